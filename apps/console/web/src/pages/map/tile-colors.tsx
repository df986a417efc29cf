import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Check } from '../../components/form.tsx'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { readColors, type EmbeddingTable, type Tile } from '../../lib/embeddings.ts'
import type { Project } from '../../lib/project.ts'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { showTiles } from '../../map/tiles.ts'
import { useDrawn } from '../../map/use-drawn.ts'

/** Draws the tiles of a table, with a choice to fill them by their principal components. */
export function TileColors(props: {
  project: Project
  map: MapLibreMap | null
  entry: EmbeddingTable
  tiles: Resource<readonly Tile[]>
}): JSX.Element {
  const { project, map, entry, tiles } = props
  const [isColored, setColored] = useState(false)
  const colors = useResource(isColored ? `colors ${project.ref} ${entry.table_name}` : null, (signal) =>
    readColors(project.ref, entry.table_name, signal),
  )
  useDrawn(
    map,
    [tiles.value, colors.value],
    (to) => showTiles(to, tiles.value ?? [], { attribution: entry.attribution, colors: colors.value }),
    (to) => showTiles(to, []),
  )
  return (
    <>
      {tiles.problem && <ProblemNotice problem={tiles.problem} onRetry={tiles.reload} />}
      {tiles.loading && <Loading what="Loading tiles" />}
      <Check label="Colours by principal components" isOn={isColored} onChange={setColored} />
      {colors.problem && <ProblemNotice problem={colors.problem} onRetry={colors.reload} />}
      {colors.loading && <Loading what="Computing colours" />}
    </>
  )
}
