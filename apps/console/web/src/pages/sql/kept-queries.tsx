import type { JSX } from 'preact'
import { IconButton, ProblemNotice } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { readKeptQueries, removeQuery } from '../../lib/sql.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** The kept queries with their parameters, each with a button that deletes it. @param changed number of kept ones */
export function KeptQueries({ project, changed }: { project: Project; changed: number }): JSX.Element | null {
  const { ref } = project
  const kept = useResource(`kept queries ${ref} ${changed}`, (signal) => readKeptQueries(ref, signal))
  const { busy, problem, run } = useAction()
  const refused = problem ?? kept.problem
  if (!refused && !kept.value?.length) return null
  return (
    <details class="sql-tables">
      <summary>Kept queries</summary>
      {refused && <ProblemNotice problem={refused} onRetry={kept.reload} />}
      <ul class="sql-kept-list">
        {kept.value?.map(({ name, parameters }) => (
          <li key={name} class="row">
            <code class="truncate">
              {name}({parameters})
            </code>
            <IconButton
              label={`Delete the query ${name}`}
              icon="trash"
              disabled={busy}
              onClick={() =>
                confirm(`Delete the query “${name}”? Maps and programs that use it find nothing any more.`) &&
                void run(() => removeQuery(ref, name).then(kept.reload))
              }
            />
          </li>
        ))}
      </ul>
    </details>
  )
}
