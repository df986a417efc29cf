import type { JSX } from 'preact'
import { Button, Code, ProblemNotice } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { dropQuery, readQueries } from '../../lib/sql.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Queries of the project: run one, see how a program calls it, drop it. */
export function SavedQueries({
  project,
  onAsk,
}: {
  project: Project
  onAsk: (sql: string) => void
}): JSX.Element | null {
  const queries = useResource(`queries ${project.ref}`, (signal) => readQueries(project.ref, signal))
  const { busy, problem, run } = useAction()
  const found = queries.problem ?? problem
  if (!found && !queries.value?.length) return null
  return (
    <section class="card" aria-label="Saved queries">
      <header>
        <h2>Saved queries</h2>
      </header>
      {found && <ProblemNotice problem={found} onRetry={queries.reload} />}
      {queries.value?.map(({ name, arguments: args, has_tiles: hasTiles }) => (
        <details key={name} class="body">
          <summary>
            <strong class="mono">{name}</strong> <span class="dim small">{args || 'no parameters'}</span>
          </summary>
          <div class="stack">
            <Code label={`How ${name} is called`} text={`POST /rest/v1/rpc/${name}`} />
            {hasTiles && <Code label={`Tiles of ${name}`} text={`/vector/v1/public.${name}_tiles/{z}/{x}/{y}`} />}
            <div class="row">
              <Button kind="small" onClick={() => onAsk(`select * from public.${name}()`)}>
                Run it
              </Button>
              <Button
                kind="small danger"
                disabled={busy}
                onClick={() => void run(async () => dropQuery(project.ref, name).then(queries.reload))}
              >
                Drop it
              </Button>
            </div>
          </div>
        </details>
      ))}
    </section>
  )
}
