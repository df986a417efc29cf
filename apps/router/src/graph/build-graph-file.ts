import { fileSource, openOsm, type OsmReader } from '@terrane/osm'
import { buildNetworkFile } from '@terrane/routing'
import type { BuildTask } from './build.ts'

/** Builds a graph file in this thread. @throws an error that begins with the name of the extract at fault */
export async function buildGraphFile(
  { extracts, choices: { drivingSide, construction }, inputs, output }: BuildTask,
  onProgress: (phase: string, message: string | null) => void,
): Promise<void> {
  const readers = await Promise.all(extracts.map(openNamed))
  await buildNetworkFile(readers, output, {
    ...(drivingSide !== 'country' && { drivingSide }),
    construction,
    inputs,
    onProgress: ({ phase, message }) => onProgress(phase, message ?? null),
  })
}

/** A reader whose errors begin with the name of its extract, because there may be several. */
async function openNamed({ name, path }: BuildTask['extracts'][number]): Promise<OsmReader> {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (cause) {
      throw new Error(`${name}: ${messageOf(cause)}`, { cause })
    }
  }
  const reader = await named(fileSource(path).then((source) => openOsm(source)))
  return {
    source: reader.source,
    header: (signal) => named(reader.header(signal)),
    estimateNodes: (signal) => named(reader.estimateNodes(signal)),
    read: (visit, options) => named(reader.read(visit, options)),
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
