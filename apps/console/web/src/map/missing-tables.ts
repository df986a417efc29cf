import type { MapLayer } from '@terrane/map-style'

/** Layers whose table is not among the tables that can be drawn. Embeddings tables are listed elsewhere. */
export function withoutTable(layers: readonly MapLayer[], tables: readonly { readonly name: string }[]) {
  const names = new Set(tables.map(({ name }) => name))
  return layers.flatMap((layer) =>
    layer.kind === 'vector' && !layer.table.startsWith('geoembeddings.') && !names.has(layer.table)
      ? [{ title: layer.title, table: layer.table }]
      : [],
  )
}
