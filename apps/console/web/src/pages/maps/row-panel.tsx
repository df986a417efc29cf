import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import type { VectorLayer } from '@terrane/map-style'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { Pager, RowTable, type Sort } from '../../components/row-table.tsx'
import type { Project } from '../../lib/project.ts'
import { readRows } from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'
import { boxOf } from '../../map/box.ts'
import { positionsOf } from '../../map/geometry.ts'
import { lookAt } from '../../map/look-at.ts'

const CHOSEN = 'chosen-row'

/** The filtered rows of a layer. A click on a head sorts them; a click on a row shows it on the map. */
export function RowPanel({
  project,
  layer,
  map,
}: {
  project: Project
  layer: VectorLayer
  map: MapLibreMap | null
}): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="row-panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small">
        Rows of {layer.title}
        {layer.filters.length > 0 && ', filtered as the layer is'}
      </summary>
      {isOpen && <Rows project={project} layer={layer} map={map} />}
    </details>
  )
}

function Rows({ project, layer, map }: { project: Project; layer: VectorLayer; map: MapLibreMap | null }): JSX.Element {
  const [offset, setOffset] = useState(0)
  const [sort, setSort] = useState<Sort>({
    column: null,
    isDescending: false,
  })
  const dot = layer.table.indexOf('.')
  const table = { table_schema: layer.table.slice(0, dot), table_name: layer.table.slice(dot + 1) }
  const how = {
    offset,
    isDescending: sort.isDescending,
    filters: layer.filters,
    ...(sort.column !== null && { sort: sort.column }),
  }
  const rows = useResource(`rows ${project.ref} ${layer.table} ${JSON.stringify(how)}`, (signal) =>
    readRows(project.ref, table, how, signal),
  )
  const count = rows.value?.length ?? 0
  const by = (column: string) => {
    setOffset(0)
    setSort({ column, isDescending: sort.column === column && !sort.isDescending })
  }
  return (
    <>
      {rows.problem && <ProblemNotice problem={rows.problem} onRetry={rows.reload} />}
      {!rows.value && !rows.problem && <Loading what="Loading rows" />}
      {rows.value && <RowTable rows={rows.value} sort={sort} onSort={by} onRow={(row) => map && showRow(map, row)} />}
      <Pager offset={offset} count={count} onOffset={setOffset} />
    </>
  )
}

/** Outlines the geometry of a row and moves to it. */
function showRow(map: MapLibreMap, row: Readonly<Record<string, unknown>>): void {
  const geometry = Object.values(row).find(
    (value): value is GeoJSON.Polygon => typeof value === 'object' && value !== null && 'coordinates' in value,
  )
  if (!geometry) return
  const box = boxOf(positionsOf(geometry))
  if (!box) return
  const data: GeoJSON.Feature = { type: 'Feature', properties: {}, geometry }
  const source = map.getSource<GeoJSONSource>(CHOSEN)
  if (source) void source.setData(data)
  else {
    map.addSource(CHOSEN, { type: 'geojson', data })
    const paint = { 'line-color': '#ff3b7b', 'line-width': 3 }
    map.addLayer({ id: CHOSEN, type: 'line', source: CHOSEN, paint })
    map.addLayer({
      id: `${CHOSEN}-point`,
      type: 'circle',
      source: CHOSEN,
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-radius': 9, 'circle-opacity': 0, 'circle-stroke-color': '#ff3b7b', 'circle-stroke-width': 3 },
    })
  }
  lookAt(map, box, 15)
}
