import { blockElements } from '../src/index.ts'
import type { OsmElement, OsmReader, ReadOptions } from '../src/index.ts'

/** All elements of a file as objects. */
export async function readElements(reader: OsmReader, options?: ReadOptions): Promise<OsmElement[]> {
  const elements: OsmElement[] = []
  await reader.read((block) => void elements.push(...blockElements(block)), options)
  return elements
}
