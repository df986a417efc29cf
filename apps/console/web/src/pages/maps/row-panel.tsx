import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import type { VectorLayer } from '@terrane/map-style'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { RowTable, type Sort } from '../../components/row-table.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { readRows } from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'
import { lookAt } from '../../map/look-at.ts'

const PAGE = 50
const CHOSEN = 'chosen-row'

/** The rows of a layer that its filters leave, sorted by a click on a head; a row is shown on the map. */
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
      <div class="row">
        <button type="button" class="button small" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>
          Previous
        </button>
        <span class="small dim nums">
          {count > 0 ? `Rows ${formatNumber(offset + 1)} to ${formatNumber(offset + count)}` : 'No rows here'}
        </span>
        <button type="button" class="button small" disabled={count < PAGE} onClick={() => setOffset(offset + PAGE)}>
          Next
        </button>
      </div>
    </>
  )
}

/** Outlines the geometry of a row and moves to it. */
function showRow(map: MapLibreMap, row: Readonly<Record<string, unknown>>): void {
  const geometry = Object.values(row).find(
    (value): value is GeoJSON.Polygon => typeof value === 'object' && value !== null && 'coordinates' in value,
  )
  if (!geometry) return
  const places = positionsOf(geometry.coordinates)
  if (places.length === 0) return
  const [lngs, lats] = [places.map(([lng = 0]) => lng), places.map(([, lat = 0]) => lat)]
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
  const [west, south] = [lngs.reduce((a, b) => Math.min(a, b)), lats.reduce((a, b) => Math.min(a, b))]
  lookAt(map, [west, south, lngs.reduce((a, b) => Math.max(a, b)), lats.reduce((a, b) => Math.max(a, b))], 15)
}

function positionsOf(coordinates: unknown): number[][] {
  const list = coordinates as unknown[]
  return typeof list[0] === 'number' ? [list as number[]] : list.flatMap(positionsOf)
}
