/** A single series: numbers, and null, undefined or NaN for what is missing. */
export type Series = ArrayLike<number | null | undefined>;
/** `Temporal.PlainDate`, `PlainDateTime`, `ZonedDateTime` or `Instant`, of the runtime's own or of a polyfill. */
export interface TemporalTime {
  readonly [Symbol.toStringTag]: 'Temporal.PlainDate' | 'Temporal.PlainDateTime' | 'Temporal.ZonedDateTime' | 'Temporal.Instant';
  toString(): string;
}
/** A time: a `Date`, one of Temporal's, a text as in CSV files, epoch milliseconds, or the number of a step. */
export type Time = Date | TemporalTime | string | number;
export type Cell = string | number | bigint | boolean | Date | TemporalTime | null | undefined;
/** A table by rows or by columns: `unique_id`, `ds` and `y`, unless `idCol`, `timeCol` and `targetCol` say otherwise. */
export type TableData = ReadonlyArray<Readonly<Record<string, Cell>>> | Readonly<Record<string, ArrayLike<Cell>>>;
/** A file of a table by its name and bytes, or as browsers have it: text (CSV, TSV, ...) or a workbook, as its name ends. */
export type TableFile = Blob | { name: string; bytes: ArrayBuffer | ArrayBufferView };
export type Data = Series | TableData | TableFile;

/** A step of a training or a search. */
export interface Step {
  model: string;
  step: number;
  maxSteps: number;
  trainLoss: number | null;
  validLoss: number | null;
}

/** How the work goes on, and how it is ended. */
export interface WorkOptions {
  /** Hears of each step; `false` ends the training there and keeps what was learned. In a worker it ends the worker. */
  onProgress?: (step: Step) => boolean | void;
  /** Ends the work with the signal's reason. A signal that is to come from elsewhere than `onProgress` needs a worker or `foretell/native`. */
  signal?: AbortSignal;
  /** At most this many threads, all of the machine by default, where the engine is `foretell/native`; a module of WebAssembly has one. */
  threads?: number;
}

/** How tables are read. */
export interface TableOptions {
  /** The future rows: ids, times, and the columns that are known in advance. */
  future?: TableData;
  /** A row for each series, with its static columns. */
  static?: TableData;
  idCol?: string;
  timeCol?: string;
  targetCol?: string;
  /** Further options: `fill`, `freq`, `aggregate`, `resample`, `zone`, ... */
  reading?: Record<string, unknown>;
  /** What becomes of series that end before others: `carry`, `drop`, ... */
  end?: string;
}

export interface ForecastOptions extends TableOptions, WorkOptions {
  /** Steps to forecast. */
  h?: number;
  /** Steps of the seasons, the main one first; found in the data by default. */
  season?: number | number[];
  /** Central intervals, in percent. */
  levels?: number[];
  quantiles?: number[];
  /** Models to try in place of those that suit the data. */
  models?: string[];
  /** Time for the work: `'0'` (the default), `'30s'`, `'2m'`, or steps of networks, `'600steps'`. */
  budget?: string;
  metric?: 'balanced' | 'mase' | 'scaled_crps' | 'mae';
  /** Whether models are combined; else the best one forecasts alone. */
  ensemble?: boolean;
  /** Columns that are known for the past only. */
  hist?: string[];
  /** Those of the columns that hold categories. */
  categories?: string[];
  nonNegative?: boolean;
  integer?: boolean;
  /** Whether networks are trained in the least memory in place of the least time. */
  lowMemory?: boolean;
  /** What the operands of products are rounded to in training: `'f32'`, the default, not at all; a module of WebAssembly has no other, the addon all. */
  precision?: 'f32' | 'bf16' | 'f16';
  /** Whether a report is wanted as well: an HTML file with scores and charts. */
  report?: boolean;
}

/** How a table was read. */
export interface Understood {
  idCol: string | null;
  timeCol: string | null;
  targetCol: string | null;
  columns: string[];
  /** Columns that were not read. */
  unread: string[];
  freq: string;
  /** In steps, the main one first; 1 for none. */
  seasons: number[];
  /** How many series, all of their rows, and those of the shortest. */
  series: number;
  rows: number;
  fewest: number;
  notes: string[];
  /** The last rows of each series. */
  table: Table;
  told: string[];
}

/** The forecast of a series. By level or probability: `lower[80]`, `quantiles[0.1]`. */
export interface SeriesForecast {
  id: string | number;
  times: Time[];
  mean: Float64Array | null;
  lower: Record<number, Float64Array>;
  upper: Record<number, Float64Array>;
  quantiles: Record<number, Float64Array>;
}

export interface Score {
  mase: number | null;
  scaledCrps: number | null;
  coverage: number | null;
  sentence: string;
}

export interface Forecast {
  /** Of the first series. */
  mean: Float64Array;
  lower: Record<number, Float64Array>;
  upper: Record<number, Float64Array>;
  quantiles: Record<number, Float64Array>;
  times: Time[];
  series: SeriesForecast[];
  table: Table;
  model: string;
  /** The weights of the models that are combined. */
  weights: Record<string, number>;
  /** What to expect, from a window that chose nothing if there are data for one. */
  score: Score | null;
  leaderboard: Array<{ model: string; mase: number | null; scaledCrps: number | null; coverage: number | null; seconds: number; weight: number }>;
  board: Record<string, unknown>;
  /** What was done in your stead. */
  told: string[];
  /** The bytes of the report, if one was wanted. */
  report?: Uint8Array;
}

export declare class Table {
  readonly names: string[];
  readonly columns: Record<string, Array<string | number> | Time[] | Float64Array>;
  readonly models: Array<{
    model: string;
    mean: string | null;
    intervals: Array<{ level: number; lower: string; upper: string }>;
    quantiles: Array<{ probability: number; column: string }>;
    components: Array<{ component: string; column: string }>;
  }>;
  readonly freq: string;
  readonly length: number;
  rows(): Array<Record<string, string | number | Date>>;
  series(model?: string): SeriesForecast[];
}

/** A model by name, or with its hyper-parameters under the names of neuralforecast. */
export type ModelSpec = string | ({ model: string; alias?: string; h?: number; input_size?: number } & Record<string, unknown>);

export interface FitOptions extends TableOptions, WorkOptions {
  models: ModelSpec[];
  h?: number;
  /** Steps that networks read; three times `h` by default. */
  inputSize?: number;
  season?: number;
  valSize?: number;
  /** Calibrated intervals: `'2'` windows, `'4:conformal_error'`, ... */
  intervals?: string;
  localScaler?: string;
  nonNegative?: boolean;
  integer?: boolean;
  /** Whether networks are trained in the least memory in place of the least time. */
  lowMemory?: boolean;
  /** What the operands of products are rounded to in training: `'f32'`, the default, not at all; a module of WebAssembly has no other, the addon all. */
  precision?: 'f32' | 'bf16' | 'f16';
}

export interface PredictOptions extends TableOptions, WorkOptions {
  h?: number;
  levels?: number[];
  quantiles?: number[];
}

export interface Predicted {
  table: Table;
  series: SeriesForecast[];
  told: string[];
}

export declare class Model {
  private constructor();
  readonly h: number;
  readonly freq: string;
  /** The columns of its forecasts. */
  readonly columns: string[];
  /** The columns of the data that it reads beside the target, and those of them that it knows in advance. */
  readonly reads: string[];
  readonly readsAhead: string[];
  readonly interrupted: boolean;
  readonly told: string[];
  static fit(data: Data, options: FitOptions): Promise<Model>;
  static load(bytes: ArrayBuffer | Uint8Array): Promise<Model>;
  predict(data: Data, options?: PredictOptions): Promise<Predicted>;
  decompose(data: Data, options?: PredictOptions): Promise<{ table: Table; told: string[] }>;
  save(): Promise<Uint8Array>;
  free(): Promise<void>;
}

export interface ValidationOptions extends FitOptions {
  nWindows?: number;
  stepSize?: number;
  refit?: number;
  levels?: number[];
  quantiles?: number[];
  metrics?: string[];
}

/** Scores by metric and model. */
export type Scores = Record<string, Record<string, number | null>>;

export interface NeuralForecasterOptions extends Omit<FitOptions, keyof WorkOptions> {
  /** At most this many threads, all of the machine by default; a module of WebAssembly has one. */
  numThreads?: number;
  simdEnabled?: boolean;
  /** `'cpu'`; anything else is an error that says so. */
  backend?: 'cpu';
  /** Whether buffers are kept for the next owner. */
  memoryPool?: boolean;
}

export declare class NeuralForecaster {
  constructor(options: NeuralForecasterOptions);
  readonly threads: number;
  readonly model: Model;
  fit(data: Data, options?: Partial<FitOptions>): Promise<this>;
  predict(data: Data, options?: PredictOptions): Promise<Predicted>;
  crossValidate(data: Data, options?: Partial<ValidationOptions>): Promise<{ table: Table; scores: Scores; told: string[] }>;
  save(): Promise<Uint8Array>;
  load(bytes: ArrayBuffer | Uint8Array): Promise<this>;
  free(): Promise<void>;
}

/** An error of the engine or of a request; docs/errors.md lists the codes. */
export declare class ForetellError extends Error {
  readonly code: string;
  readonly setting: string | null;
  readonly advice: string | null;
  readonly row?: number | null;
  readonly column?: string | null;
  readonly series?: string | null;
  readonly file?: string | null;
  /** The columns that may be meant, where it is not clear which. */
  readonly columns?: string[];
}

/** Compiles the module; without a call the first work does. */
export declare function init(source?: string | URL | Request | Response | Promise<Response> | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<void>;
export declare function look(data: Data, options?: TableOptions): Promise<Understood>;
export declare function forecast(data: Data, options?: ForecastOptions): Promise<Forecast>;
export declare function crossValidate(data: Data, options: ValidationOptions): Promise<{ table: Table; scores: Scores; told: string[] }>;
export declare function anomalies(
  data: Data,
  options: FitOptions & { nWindows?: number; stepSize?: number; level?: number },
): Promise<{ table: Table; told: string[] }>;
export declare function evaluate(actual: Series, forecasts: Record<string, Series>, options?: { metrics?: string[] }): Promise<Scores>;
export declare function about(): Promise<{ version: string; models: string[]; level: string; kept: number }>;
