import assert from 'node:assert/strict';
import test from 'node:test';

import { load, values } from './support.js';

const { Model } = await load('node.js');
const { memoryBytes } = await load('engine.js');

test('memory is flat over ten thousand forecasts', async () => {
  const data = values(40);
  const model = await Model.fit(data, { models: ['SeasonalNaive', { model: 'NLinear', max_steps: 1 }], h: 4, season: 4 });
  const forecasts = async (count) => {
    for (let round = 0; round < count; round += 1) await model.predict(data);
  };
  await forecasts(500);
  const before = memoryBytes();
  await forecasts(10000);
  assert.equal(memoryBytes(), before);
});
