import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import { formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useStore } from '../../lib/store.ts'
import { useResource } from '../../lib/use-resource.ts'
import { layerColor } from '../../map/colors.ts'
import { readLiveTables, showTables, tableBox, visibleTables } from '../../map/live.ts'
import { lookAt } from '../../map/look-at.ts'
import { TableColors } from './table-colors.tsx'

/** Tables with a geometry, drawn live; `wanted` is shown at once. */
export function TablesSection(props: {
  project: Project
  map: MapLibreMap | null
  beneath: string
  wanted: string | null
}): JSX.Element {
  const { project, map, beneath, wanted } = props
  const tables = useResource(`live ${project.ref}`, (signal) => readLiveTables(project.ref, signal))
  const shown = visibleTables(project.ref)
  const visible = useStore(shown)
  const [problem, setProblem] = useState<Problem | null>(null)
  const act = (work: Promise<unknown>) => {
    setProblem(null)
    work.catch((error: unknown) => setProblem(toProblem(error)))
  }
  const look = (name: string) => {
    if (!shown.get().includes(name)) shown.set([...shown.get(), name])
    if (map) act(tableBox(project.ref, name).then((box) => map.style && lookAt(map, box)))
  }
  useEffect(() => {
    if (map) act(showTables(map, project.ref, visible, beneath))
  }, [map, visible])
  useEffect(() => {
    if (map && wanted !== null) look(wanted)
  }, [map, wanted])
  return (
    <section aria-labelledby="tables-title">
      <h2 id="tables-title">
        <Icon name="layers" />
        Tables
      </h2>
      {tables.problem && <ProblemNotice problem={tables.problem} onRetry={tables.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {!tables.value && !tables.problem && <Loading what="Loading tables" />}
      {tables.value?.length === 0 && (
        <p class="dim">
          No table with a geometry yet. <Link href={`/p/${project.ref}/new`}>Import something</Link>.
        </p>
      )}
      <ul>
        {tables.value?.map(({ name, geometry_type: kind, rows }) => (
          <li key={name} class="layer-row">
            <input
              id={`table-${name}`}
              type="checkbox"
              checked={visible.includes(name)}
              onChange={(event) =>
                event.currentTarget.checked ? look(name) : shown.set(visible.filter((other) => other !== name))
              }
            />
            <span class="swatch" style={{ background: layerColor(name) }} aria-hidden="true" />
            <label for={`table-${name}`}>
              <span class="truncate">{name.replace(/^public\./, '')}</span>
              <span class="small faint nums">
                {kind}
                {rows !== null && `, ${formatRows(rows)}`}
              </span>
            </label>
            <button
              type="button"
              class="button small icon quiet"
              aria-label={`Look at ${name}`}
              title="Look at it"
              onClick={() => look(name)}
            >
              <Icon name="locate" />
            </button>
            {map && visible.includes(name) && <TableColors project={project} map={map} table={name} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
