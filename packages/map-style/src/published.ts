import type { MapDocument } from './document.ts'

/** The published part of a map: the layers that are shown, without the notes. */
export function publishedOf(map: MapDocument): MapDocument {
  return { ...map, notes: '', layers: map.layers.filter(({ isShown }) => isShown) }
}

/** Tables that the layers of a map show, `schema.table` each, in order. */
export function tablesOf({ layers }: MapDocument): string[] {
  return [...new Set(layers.flatMap((layer) => (layer.kind === 'vector' ? [layer.table] : [])))]
}
