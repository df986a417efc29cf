// Tiles a file of GeoJSON lines. Includes parsing the text and writing the archive, as in a command line tool.
//   node tile-file.ts <features.geojsonl> <out.pmtiles> <attributes, comma-separated> <drop rate>
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { buildPmtiles } from '../../src/vector/index.ts'
import type { FeatureBatch } from '../../src/vector/index.ts'
import { batchesOf } from '../../test/vector/feature-source.ts'
import type { TestFeature } from '../../test/vector/feature-source.ts'

const [input, output, names, dropRate] = process.argv.slice(2) as [string, string, string, string]
const attributes = names.split(',')

using archive = await buildPmtiles(readFeatures(), {
  layers: [{ name: 'features', attributes, dropRate: Number(dropRate) }],
  zooms: [0, 14],
})
const file = openSync(output, 'w')
for (const bytes of archive.read()) writeSync(file, bytes)
closeSync(file)

async function* readFeatures(): AsyncGenerator<FeatureBatch> {
  const text = readFileSync(input, 'utf8')
  for (let at = 0; at < text.length;) {
    const features: TestFeature[] = []
    for (; at < text.length && features.length < 5000;) {
      const end = text.indexOf('\n', at)
      features.push(JSON.parse(text.slice(at, end)))
      at = end + 1
    }
    yield* batchesOf(features, attributes, features.length)
  }
}
