import type { Data, FitOptions, Forecast, ForecastOptions, PredictOptions, Predicted, Scores, Series, Table, TableOptions, Understood, ValidationOptions } from './index.js';

export { ForetellError } from './index.js';

/** Models in the worker. */
export interface RemoteModel {
  readonly h: number;
  readonly freq: string;
  readonly columns: string[];
  readonly reads: string[];
  readonly readsAhead: string[];
  readonly interrupted: boolean;
  readonly told: string[];
  predict(data: Data, options?: PredictOptions): Promise<Predicted>;
  decompose(data: Data, options?: PredictOptions): Promise<{ table: Table; told: string[] }>;
  save(): Promise<Uint8Array>;
  free(): Promise<void>;
}

/** The engine in a worker. A signal that is aborted ends the worker, and its models with it; another one is started. */
export interface EngineWorker {
  look(data: Data, options?: TableOptions): Promise<Understood>;
  forecast(data: Data, options?: ForecastOptions): Promise<Forecast>;
  fit(data: Data, options: FitOptions): Promise<RemoteModel>;
  load(bytes: ArrayBuffer | Uint8Array): Promise<RemoteModel>;
  crossValidate(data: Data, options: ValidationOptions): Promise<{ table: Table; scores: Scores; told: string[] }>;
  anomalies(data: Data, options: FitOptions & { nWindows?: number; stepSize?: number; level?: number }): Promise<{ table: Table; told: string[] }>;
  evaluate(actual: Series, forecasts: Record<string, Series>, options?: { metrics?: string[] }): Promise<Scores>;
  about(): Promise<{ version: string; models: string[]; level: string; kept: number }>;
  terminate(): Promise<void>;
}

/** Starts a worker with the engine; `source` is what `init` takes: a URL, bytes or a module. */
export declare function startWorker(source?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<EngineWorker>;
