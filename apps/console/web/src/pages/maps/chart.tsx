import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { VectorLayer } from '@terrane/map-style'
import { CHART_PARTS, chartKind, chartSql, type ChartKind, type ChartRows } from '@terrane/map-style/chart'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { Histogram } from '../../components/histogram.tsx'
import { formatNumber, formatRange, formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { geometryIn, readColumns, readStatement } from '../../lib/sql.ts'
import { useResource } from '../../lib/use-resource.ts'
import { Choice } from './controls.tsx'

/** A part of a chart. */
interface Part {
  readonly part: number
  readonly starts: string
  readonly ends: string | null
  readonly rows: number
  readonly total: number
}

type Box = NonNullable<ChartRows['view']>['box']

/**
 * Frequencies of a column's values in the rows of a layer that match its filters: in all of them, or in those in view.
 */
export function Chart(props: { project: Project; layer: VectorLayer; map: MapLibreMap | null }): JSX.Element {
  const { project, layer, map } = props
  const { table, filters } = layer
  const [chosen, setChosen] = useState('')
  const [isInView, setInView] = useState(false)
  const box = useView(map, isInView)
  const about = useResource(`columns ${project.ref} ${table}`, (signal) => readColumns(project.ref, table, signal))
  const columns = about.value?.flatMap(({ name, type }) => (chartKind(type) === null ? [] : [{ name, type }])) ?? []
  const colored = layer.color.by === 'one' ? '' : layer.color.property
  const named = (wanted: string) => columns.find(({ name }) => name === wanted)
  const column = named(chosen) ?? named(colored) ?? columns.find(({ name }) => name !== 'id') ?? columns[0]
  const geometry = geometryIn(about.value ?? [])
  const view = isInView && box && geometry !== null ? { geometry, box } : null
  const sql = column ? chartSql({ table, filters, view }, column.name, column.type) : null
  const counted = useResource(sql === null ? null : `chart ${project.ref} ${sql}`, async (signal) => {
    const { rows } = await readStatement(project.ref, { sql: sql!, parameters: [] }, signal)
    return rows as unknown as readonly Part[]
  })
  const problem = about.problem ?? counted.problem
  return (
    <div class="chart">
      <div class="row">
        <Choice
          label="Column of the chart"
          value={column?.name ?? ''}
          options={columns.map(({ name }) => name)}
          onChoose={setChosen}
        />
        {geometry !== null && (
          <label class="check small">
            <input type="checkbox" checked={isInView} onChange={(event) => setInView(event.currentTarget.checked)} />
            Only rows in view
          </label>
        )}
        {counted.value?.[0] && <span class="small dim nums">{formatRows(counted.value[0].total)} with a value</span>}
      </div>
      {problem && <ProblemNotice problem={problem} onRetry={about.problem ? about.reload : counted.reload} />}
      {!problem && (counted.loading || about.loading) && <Loading what="Counting rows" />}
      {about.value && !column && <p class="dim small">No column has numbers, times or names.</p>}
      {counted.value?.length === 0 && <p class="dim small">No row has a value here.</p>}
      {column && counted.value && counted.value.length > 0 && (
        <Bars kind={chartKind(column.type)!} name={column.name} parts={counted.value} />
      )}
    </div>
  )
}

/** Bounding box of a map's view, updated after each move; null unless `isAsked`. */
function useView(map: MapLibreMap | null, isAsked: boolean): Box | null {
  const [box, setBox] = useState<Box | null>(null)
  useEffect(() => {
    if (!map || !isAsked) return
    const look = () => {
      const bounds = map.getBounds()
      setBox([bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()])
    }
    look()
    map.on('moveend', look)
    return () => void map.off('moveend', look)
  }, [map, isAsked])
  return box
}

function Bars({ kind, name, parts }: { kind: ChartKind; name: string; parts: readonly Part[] }): JSX.Element {
  const most = Math.max(...parts.map(({ rows }) => rows))
  const low = Number(parts[0]!.starts)
  const all = [low, Number(parts.at(-1)!.ends ?? low)] as const
  const said = ({ starts, ends }: Part) =>
    kind === 'number' ? formatRange(Number(starts), Number(ends), all) : starts || '(empty)'
  if (kind === 'category') {
    const others = parts[0]!.total - parts.reduce((sum, { rows }) => sum + rows, 0)
    return (
      <ul class="bars" aria-label={`Rows by ${name}`}>
        {parts.map((part) => (
          <li key={part.part}>
            <span class="truncate">{said(part)}</span>
            <i style={{ width: `${(100 * part.rows) / most}%` }} />
            <span class="nums dim">{formatNumber(part.rows)}</span>
          </li>
        ))}
        {others > 0 && <li class="dim small">{formatRows(others)} with other values</li>}
      </ul>
    )
  }
  const bars = parts.map((part) => ({
    at: part.part,
    count: part.rows,
    title: `${said(part)}: ${formatRows(part.rows)}`,
  }))
  return (
    <figure>
      <Histogram of={name} bars={bars} width={kind === 'number' ? CHART_PARTS.number : parts.length} />
      <figcaption class="row small dim nums">
        <span>{said(parts[0]!)}</span>
        <span>highest bar: {formatRows(most)}</span>
        <span>{said(parts.at(-1)!)}</span>
      </figcaption>
    </figure>
  )
}
