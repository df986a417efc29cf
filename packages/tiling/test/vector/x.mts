import { buildPmtiles } from '../../src/vector/index.ts'
import { batchesOf } from './feature-source.ts'
import { randomFeatures } from './random-features.ts'
const f = randomFeatures(3000, 31)
let t = performance.now(),
  ph = ''
const r = await buildPmtiles(batchesOf(f, Object.keys(f[0]!.properties!)), {
  layer: 'x',
  attributes: Object.keys(f[0]!.properties!),
  zooms: [0, 15],
  onProgress: (p) => {
    if (p.phase !== ph) {
      console.log(ph, performance.now() - t)
      ph = p.phase
      t = performance.now()
    }
  },
})
console.log(ph, performance.now() - t, r.tiles, r.bytes)
