import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Notice, ProblemNotice } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { keepQuery, keepTable, type Statement } from '../../lib/sql.ts'
import { formatNumber } from '../../lib/format.ts'
import { useAction } from '../../lib/use-action.ts'

/** Stores the rows of a statement as a table, or the statement itself as a query that runs at each call. */
export function KeepForm(props: {
  project: Project
  statement: Statement
  hasMap: boolean
  onKept: () => void
}): JSX.Element {
  const { project, statement, hasMap, onKept } = props
  const { ref } = project
  const [name, setName] = useState('')
  const [done, setDone] = useState<JSX.Element | null>(null)
  const { busy, problem, run } = useAction()
  const keep = async (what: () => Promise<JSX.Element>) => {
    setDone(null)
    setDone(await what())
  }
  const mapOf = (table: string) => hasMap && <Link href={`/p/${ref}/maps/new?table=${table}`}>Show it on a map</Link>
  const asTable = async () => {
    const { table, rows } = await keepTable(ref, statement, name)
    return (
      <>
        Table {name} has {formatNumber(rows)} rows. {mapOf(table)}
      </>
    )
  }
  const asQuery = async () => {
    const view = await keepQuery(ref, statement, name)
    onKept()
    return <Kept {...{ name, statement }} tiles={hasMap ? view : null} map={mapOf(view)} />
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
      <Button disabled={busy || name === ''} onClick={() => void run(() => keep(asTable))}>
        Make a table
      </Button>
      <Button
        disabled={busy || name === ''}
        title="Saves the query as a function with parameters and as a view with their current values"
        onClick={() => void run(() => keep(asQuery))}
      >
        Keep the query
      </Button>
      {problem && <ProblemNotice problem={problem} />}
      {done && <Notice>{done}</Notice>}
    </form>
  )
}

/** How programs and maps reach a kept query. @param tiles name of the source of tiles; null without a geometry */
function Kept(props: {
  name: string
  statement: Statement
  tiles: string | null
  map: ComponentChildren
}): JSX.Element {
  const { name, statement, tiles, map } = props
  const values = statement.parameters.map((one) => `${one.name}=${encodeURIComponent(one.value)}`).join('&')
  const path = `/rest/v1/rpc/${name}${values === '' ? '' : '?'}${values}`
  return (
    <>
      Query {name} is kept: programs call <code>{path}</code>
      {tiles && (
        <>
          , maps take tiles from <code>/vector/v1/{tiles}</code>
        </>
      )}
      . {map}
    </>
  )
}
