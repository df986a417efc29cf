import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { GeoJSONSource, Map as MapLibreMap, VectorTileSource } from 'maplibre-gl'
import type { VectorLayer } from '@terrane/map-style'
import { Loading, ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Pager, RowTable, type Sort } from '../../components/row-table.tsx'
import type { Project } from '../../lib/project.ts'
import { readRows } from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'
import { drawnSource } from '../../map/draw-map.ts'
import { boxOf } from '../../map/box.ts'
import { positionsOf } from '../../map/geometry.ts'
import { lookAt } from '../../map/look-at.ts'
import { Chart } from './chart.tsx'
import { useCells } from './use-cells.tsx'

const CHOSEN = 'chosen-row'
const SHOWN = [
  { value: 'rows', label: 'Table' },
  { value: 'chart', label: 'Chart' },
] as const

interface PanelProps {
  readonly project: Project
  readonly layer: VectorLayer
  readonly map: MapLibreMap | null
}

/**
 * The filtered rows of a layer, as a table or as a chart. Rows can be sorted by a column, shown on the map, and edited.
 */
export function RowPanel(props: PanelProps): JSX.Element {
  const { layer } = props
  const [isOpen, setOpen] = useState(false)
  const [shown, setShown] = useState<'rows' | 'chart'>('rows')
  return (
    <details class="row-panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small">
        Rows of {layer.title}
        {layer.filters.length > 0 && ', with the filters of the layer'}
      </summary>
      {isOpen && <Segmented label="Show as" value={shown} options={SHOWN} onChange={setShown} />}
      {isOpen && (shown === 'rows' ? <Rows {...props} /> : <Chart {...props} />)}
    </details>
  )
}

function Rows({ project, layer, map }: PanelProps): JSX.Element {
  const [offset, setOffset] = useState(0)
  const [sort, setSort] = useState<Sort>({ column: null, isDescending: false })
  const dot = layer.table.indexOf('.')
  const table = { table_schema: layer.table.slice(0, dot), table_name: layer.table.slice(dot + 1) }
  const cells = useCells(project.ref, layer.table, () => {
    rows.reload()
    if (map) redraw(map, layer)
  })
  // Without an order, an edited row would move to another position.
  const column = sort.column ?? cells.order
  const how = {
    offset,
    isDescending: sort.isDescending,
    filters: layer.filters,
    ...(column !== null && { sort: column }),
  }
  const rows = useResource(`rows ${project.ref} ${layer.table} ${JSON.stringify(how)}`, (signal) =>
    readRows(project.ref, table, how, signal),
  )
  const count = rows.value?.length ?? 0
  const by = (next: string) => {
    setOffset(0)
    setSort({ column: next, isDescending: sort.column === next && !sort.isDescending })
  }
  const problem = cells.problem ?? rows.problem
  const retry = () => {
    cells.retry()
    rows.reload()
  }
  return (
    <>
      <div class="row">
        <Pager offset={offset} count={count} onOffset={setOffset} />
        {cells.toggle}
      </div>
      {problem && <ProblemNotice problem={problem} onRetry={retry} />}
      {!rows.value && !problem && <Loading what="Loading rows" />}
      {rows.value && (
        <RowTable
          rows={rows.value}
          sort={sort}
          onSort={by}
          onRow={(row) => map && showRow(map, row)}
          editor={cells.editor}
        />
      )}
    </>
  )
}

/** Requests the tiles of a layer again. */
function redraw(map: MapLibreMap, { id }: VectorLayer): void {
  const source = map.getSource<VectorTileSource>(drawnSource(id))
  if (source?.tiles) source.setTiles(source.tiles)
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
