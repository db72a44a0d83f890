// The entry for Node with the engine as an addon: all threads of the machine, with the bits of the program.

import { createRequire } from 'node:module';
import { AddonEngine } from './addon.js';
import { setAddon } from './engine.js';
import { refuse } from './error.js';

/** The package of this system's addon. */
const name = () => {
  const system = `foretell-${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return system;
  return `${system}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}`;
};

const opened = () => {
  try {
    return createRequire(import.meta.url)(name());
  } catch (error) {
    throw refuse('native', `the addon ${name()} cannot be loaded (${error.message.split('\n')[0]}); install that package, or import foretell in place of foretell/native`, 'without_addon');
  }
};

setAddon(new AddonEngine(new (opened().Addon)()));

export * from './api.js';
