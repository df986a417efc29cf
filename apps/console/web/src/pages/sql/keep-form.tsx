import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Notice, ProblemNotice } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { keepTable, type Statement } from '../../lib/sql.ts'
import { formatNumber } from '../../lib/format.ts'
import { useAction } from '../../lib/use-action.ts'

/** Stores all rows of a statement as a table. */
export function KeepForm({ project, statement }: { project: Project; statement: Statement }): JSX.Element {
  const { ref } = project
  const [name, setName] = useState('')
  const [done, setDone] = useState<JSX.Element | null>(null)
  const { busy, problem, run } = useAction()
  const keep = async () => {
    setDone(null)
    const { table, rows } = await keepTable(ref, statement, name)
    setDone(
      <>
        Table {name} has {formatNumber(rows)} rows.{' '}
        <Link href={`/p/${ref}/maps/new?table=${table}`}>Show it on a map</Link>
      </>,
    )
  }
  return (
    <form class="row sql-keep" aria-label="Keep the result" onSubmit={(event) => event.preventDefault()}>
      <input
        class="input"
        aria-label="Name"
        placeholder="name, such as shops_near_stops"
        pattern="[a-z][a-z0-9_]{0,62}"
        required
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Button disabled={busy || name === ''} onClick={() => void run(keep)}>
        Make a table
      </Button>
      {problem && <ProblemNotice problem={problem} />}
      {done && <Notice>{done}</Notice>}
    </form>
  )
}
