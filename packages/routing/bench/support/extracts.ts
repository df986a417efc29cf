import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { fileSource, openOsm } from '@terrane/osm'

import { type BuildOptions, buildNetwork, type Network } from '../../src/index.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')
const SHARED = process.env.TERRANE_SHARED ?? resolve(ROOT, '../shared')

/** An extract of OpenStreetMap for measurements. */
export interface Extract {
  readonly name: string
  readonly path: string
}

/**
 * The extracts that arguments name: paths of files, or prefixes of the shared test extracts. Missing ones are reported
 * and left out.
 */
export function findExtracts(names: readonly string[]): Extract[] {
  const found: Extract[] = []
  for (const name of names) {
    const file = FILES.find((candidate) => candidate.startsWith(name))
    const path = existsSync(name) ? resolve(name) : join(SHARED, 'data/osm', `${file}.osm.pbf`)
    if (existsSync(path)) found.push({ name: file ?? name.replaceAll(/^.*\/|\..*$/g, ''), path })
    else
      console.log(`SKIPPED: there is no extract ${name}; give its path, or the folder of test data as TERRANE_SHARED`)
  }
  return found
}

/** Builds the network of an extract, without countries, as for the recorded answers, and prints time and memory. */
export async function buildExtract(
  { name, path }: Extract,
  options: BuildOptions = { drivingSide: 'left' },
): Promise<Network> {
  const started = performance.now()
  const network = await buildNetwork([await openOsm(await fileSource(path))], options)
  const { graph, file } = network
  console.log(
    `\n${name}: ${graph.nodeCount} nodes, ${graph.edgeCount} edges, built in ` +
      `${((performance.now() - started) / 1000).toFixed(1)} s, file ${(file.buffer.byteLength / 1e6).toFixed(0)} MB, ` +
      `peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`,
  )
  return network
}

const FILES = ['liechtenstein-2021', 'milan-2015', 'porto-2015', 'rhein-neckar-2016', 'malta-2016', 'monaco-2016']
