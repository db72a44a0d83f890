//! Tensors as files hold them: a shape and a flat vector.

use std::fmt;

use safetensors::Dtype;

#[cfg(target_endian = "big")]
compile_error!("safetensors files are little-endian; a big-endian host needs byte swaps in tensor.rs");

/// A dense tensor, row-major.
#[derive(Clone, PartialEq)]
pub struct TensorData {
    shape: Vec<usize>,
    values: TensorValues,
}

impl fmt::Debug for TensorData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorData({} {:?})", self.values.numpy(), self.shape)
    }
}

macro_rules! tensor_values {
    ($($(#[$doc:meta])* $name:ident($ty:ty) = $dtype:ident, $numpy:literal;)*) => {
        /// The elements of a [`TensorData`], one variant per dtype.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum TensorValues {
            $($(#[$doc])* $name(Vec<$ty>),)*
        }

        impl TensorValues {
            /// Number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$name(values) => values.len(),)*
                }
            }

            pub(crate) fn dtype(&self) -> Dtype {
                match self {
                    $(Self::$name(_) => Dtype::$dtype,)*
                }
            }

            /// The dtype's name in numpy.
            pub(crate) fn numpy(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $numpy,)*
                }
            }

            pub(crate) fn bytes(&self) -> &[u8] {
                match self {
                    $(Self::$name(values) => bytemuck::cast_slice(values),)*
                }
            }

            /// None for a dtype without a variant.
            pub(crate) fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
                match dtype {
                    $(Dtype::$dtype => Some(Self::$name(elements(bytes))),)*
                    _ => None,
                }
            }
        }
    };
}

/// Copies bytes, which need not be aligned, into elements.
fn elements<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    let mut elements = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
    elements
}

tensor_values! {
    /// Booleans, 0 or 1.
    Bool(u8) = BOOL, "bool";
    /// Unsigned bytes.
    U8(u8) = U8, "uint8";
    /// Signed bytes.
    I8(i8) = I8, "int8";
    /// 16-bit integers.
    I16(i16) = I16, "int16";
    /// Unsigned 16-bit integers.
    U16(u16) = U16, "uint16";
    /// IEEE half precision, as bits.
    F16(u16) = F16, "float16";
    /// Brain floats, as bits.
    BF16(u16) = BF16, "bfloat16";
    /// 32-bit integers.
    I32(i32) = I32, "int32";
    /// Unsigned 32-bit integers.
    U32(u32) = U32, "uint32";
    /// Single precision.
    F32(f32) = F32, "float32";
    /// Complex numbers of single precision: real, imaginary.
    C64([f32; 2]) = C64, "complex64";
    /// Double precision.
    F64(f64) = F64, "float64";
    /// 64-bit integers.
    I64(i64) = I64, "int64";
    /// Unsigned 64-bit integers.
    U64(u64) = U64, "uint64";
}

impl TensorValues {
    /// Bytes that the elements take.
    pub fn size(&self) -> usize {
        self.bytes().len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TensorData {
    /// A tensor of `shape`; panics unless `values` holds its number of elements.
    #[track_caller]
    pub fn new(shape: impl Into<Vec<usize>>, values: TensorValues) -> Self {
        let shape = shape.into();
        assert_eq!(
            shape.iter().product::<usize>(),
            values.len(),
            "shape {shape:?} against {} values",
            values.len()
        );
        Self { shape, values }
    }

    /// A single-precision tensor of `shape`; panics unless `values` holds its number of elements.
    #[track_caller]
    pub fn f32(shape: impl Into<Vec<usize>>, values: Vec<f32>) -> Self {
        Self::new(shape, TensorValues::F32(values))
    }

    /// The size of each dimension; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, row-major.
    pub fn values(&self) -> &TensorValues {
        &self.values
    }

    /// The elements, row-major.
    pub fn into_values(self) -> TensorValues {
        self.values
    }

    /// The elements of an F32 tensor; None for any other dtype.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.values {
            TensorValues::F32(values) => Some(values),
            _ => None,
        }
    }

    /// The dtype in safetensors' spelling, for messages.
    pub fn dtype(&self) -> String {
        self.values.dtype().to_string()
    }

    /// F32 or F64 elements in double precision.
    pub(crate) fn floats(&self) -> Option<Vec<f64>> {
        match &self.values {
            TensorValues::F32(values) => Some(values.iter().map(|&v| f64::from(v)).collect()),
            TensorValues::F64(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// Integer elements of any width that fit into 64 bits with sign.
    pub(crate) fn integers(&self) -> Option<Vec<i64>> {
        match &self.values {
            TensorValues::I64(values) => Some(values.clone()),
            TensorValues::I32(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::U32(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::I16(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::U16(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::I8(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::U8(values) => Some(values.iter().map(|&v| v.into()).collect()),
            TensorValues::U64(values) => values.iter().map(|&v| v.try_into().ok()).collect(),
            _ => None,
        }
    }
}
