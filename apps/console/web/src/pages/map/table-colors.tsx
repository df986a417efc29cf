import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatNumber, formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { useResource } from '../../lib/use-resource.ts'
import { colorTable, legendOf, readStats } from '../../map/legend.ts'
import { tableProperties } from '../../map/live.ts'
import { Swatch } from '../../map/swatch.tsx'

/** Colours a drawn table by one of its properties, and shows the legend. */
export function TableColors({
  project,
  map,
  table,
  kind,
}: {
  project: Project
  map: MapLibreMap
  table: string
  /** Type of its geometry. */
  kind: string
}): JSX.Element {
  const [property, setProperty] = useState('')
  const key = `${project.ref} ${table}`
  const properties = useResource(`properties ${key}`, (signal) => tableProperties(project.ref, table, signal))
  const legend = useResource(property === '' ? null : `legend ${key} ${property}`, async (signal) =>
    legendOf(await readStats(project.ref, table, property, signal)),
  )
  const shown = property === '' ? null : (legend.value ?? null)
  useEffect(() => {
    const draw = () => colorTable(map, table, shown)
    draw()
    // The layers of a table are added after its description is read.
    map.on('styledata', draw)
    return () => void map.off('styledata', draw)
  }, [map, table, shown])
  return (
    <div class="table-colors">
      <label>
        <span class="small dim">Colour by</span>
        <select class="select" value={property} onChange={(event) => setProperty(event.currentTarget.value)}>
          <option value="">one colour</option>
          {properties.value?.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {legend.loading && <Loading what="Reading all rows" />}
      {legend.problem && <ProblemNotice problem={legend.problem} onRetry={legend.reload} />}
      {shown && (
        <ul class="legend" aria-label={`Colours by ${property}`}>
          {shown.entries.map(({ color, text, rows }) => (
            <li key={text} title={formatRows(rows)}>
              <Swatch color={color} kind={kind} />
              <span class="truncate nums">{text}</span>
              <span class="small faint nums">{formatNumber(rows)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
