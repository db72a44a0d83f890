//! The contributions of inputs to forecasts, as bars.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::lettering::{shortened, text_width};
use crate::picture::{Drawn, FAINT, INK, Picture, WIDTH, colour, head_height, text, titled};
use crate::ticks::number;

/// Pixels of a bar, and above each group of them.
const BAR: u32 = 24;
const HEAD: u32 = 40;
/// The most columns of a name that are shown.
const LONGEST: usize = 48;
/// Pixels of the legend.
const LEGEND: u32 = 22;
const FONT_SIZE: f64 = 14.0;

/// Bars of several models, one below the other.
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) groups: Vec<Group>,
}

/// The inputs of one model, the most important first.
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) inputs: Vec<Input>,
}

/// An input: how much it moves forecasts either way, and how much of that is upwards, both at least 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) size: f64,
    pub(crate) upwards: f64,
}

impl Group {
    /// The `most` inputs with the largest mean size over the rows of `columns`; nothing is made of rows without a number.
    pub(crate) fn of<'a>(
        title: String,
        columns: impl Iterator<Item = (&'a str, &'a [f32])>,
        most: usize,
    ) -> Self {
        let input = |(name, values): (&str, &[f32])| {
            let known = || values.iter().map(|&value| f64::from(value)).filter(|value| value.is_finite());
            let count = known().count().max(1) as f64;
            let size = known().map(f64::abs).sum::<f64>() / count;
            let upwards = known().map(|value| value.max(0.0)).sum::<f64>() / count;
            Input { name: name.to_owned(), size, upwards }
        };
        let mut inputs: Vec<Input> = columns.map(input).collect();
        inputs.sort_by(|a, b| b.size.total_cmp(&a.size));
        inputs.truncate(most);
        Self { title, inputs }
    }
}

impl Picture for Bars {
    fn size(&self) -> (u32, u32) {
        let bars: usize = self.groups.iter().map(|group| group.inputs.len()).sum();
        let head = head_height(&self.title, &self.subtitle) + LEGEND;
        (WIDTH, head + HEAD * self.groups.len() as u32 + BAR * bars as u32 + 20)
    }

    fn names(&self) -> Vec<&str> {
        let groups = self.groups.iter().flat_map(|group| {
            std::iter::once(&*group.title).chain(group.inputs.iter().map(|input| &*input.name))
        });
        [&*self.title, &*self.subtitle].into_iter().chain(groups).collect()
    }

    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>,
    {
        let below = titled(area, &self.title, &self.subtitle)?;
        let (legend, body) = below.split_vertically(LEGEND);
        for (place, (name, opacity)) in
            [("raises the forecast", 1.0), ("lowers it", 0.35)].into_iter().enumerate()
        {
            let x = 24 + 200 * place as i32;
            legend.draw(&Rectangle::new([(x, 4), (x + 24, 16)], colour(0).mix(opacity).filled()))?;
            legend.draw(&Text::new(name, (x + 30, 3), text(15.0, &INK)))?;
        }
        let longest = self
            .groups
            .iter()
            .flat_map(|group| &group.inputs)
            .map(|input| text_width(&shown(&input.name), FONT_SIZE));
        let left = 24 + longest.fold(0.0, f64::max) as i32 + 12;
        // A number is next to each bar.
        let room = f64::from(WIDTH as i32 - left - 130);
        let mut y = 0;
        for (model, group) in self.groups.iter().enumerate() {
            body.draw(&Text::new(shortened(&group.title, 100), (24, y + 12), text(16.0, &INK)))?;
            y += HEAD as i32;
            let largest = group.inputs.first().map_or(0.0, |input| input.size);
            for input in &group.inputs {
                let width = |value: f64| if largest > 0.0 { (room * value / largest) as i32 } else { 0 };
                let (whole, up) = (left + width(input.size), left + width(input.upwards));
                let middle = y + BAR as i32 / 2;
                let right = text(FONT_SIZE, &INK).pos(Pos::new(HPos::Right, VPos::Center));
                body.draw(&Text::new(shown(&input.name), (left - 12, middle), right))?;
                for (from, to, opacity) in [(left, up, 1.0), (up, whole, 0.35)] {
                    let bar = [(from, middle - 7), (to, middle + 7)];
                    body.draw(&Rectangle::new(bar, colour(model).mix(opacity).filled()))?;
                }
                let beside = text(13.0, &FAINT).pos(Pos::new(HPos::Left, VPos::Center));
                body.draw(&Text::new(number(input.size), (whole + 8, middle), beside))?;
                y += BAR as i32;
            }
        }
        Ok(())
    }
}

/// A name that is not too long for its place.
fn shown(name: &str) -> String {
    shortened(name, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stand_by_their_size_and_both_directions() {
        let columns: [(&str, &[f32]); 3] =
            [("price@0", &[1.0, -3.0]), ("y@0", &[f32::NAN, 5.0]), ("y@-1", &[0.1, 0.1])];
        let group = Group::of("NHITS".to_owned(), columns.into_iter(), 2);
        let input = |name: &str, size: f64, upwards: f64| Input { name: name.to_owned(), size, upwards };
        assert_eq!(group.inputs, [input("y@0", 5.0, 5.0), input("price@0", 2.0, 0.5)]);
    }

    #[test]
    fn a_picture_has_the_names_and_the_numbers() {
        let columns: [(&str, &[f32]); 2] = [("price & co@0", &[1.5]), ("flat@0", &[0.0])];
        let bars = Bars {
            title: "Contributions".to_owned(),
            subtitle: "of 1 series".to_owned(),
            groups: vec![Group::of("NHITS".to_owned(), columns.into_iter(), 9)],
        };
        let svg = bars.svg().unwrap();
        for part in ["Contributions", "of 1 series", "NHITS", "price &amp; co@0", "1.5", "flat@0", "<rect"] {
            assert!(svg.contains(part), "{part} is missing");
        }
        assert!(bars.png().unwrap().starts_with(b"\x89PNG"));
        assert!(shown(&"a".repeat(60)).chars().count() <= LONGEST);
    }
}
