import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Loading, ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { RowTable } from '../../components/row-table.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { featuresOf, parametersOf, readStatement, type SqlParameter, type SqlResult } from '../../lib/sql.ts'
import { useAction } from '../../lib/use-action.ts'
import { KeepForm } from './keep-form.tsx'
import { KeptQueries } from './kept-queries.tsx'
import { ParameterRows } from './parameter-rows.tsx'
import { QuestionForm } from './question-form.tsx'
import { ResultMap } from './result-map.tsx'
import { TableList } from './table-list.tsx'

/** A statement, its rows as a table or on a map, and options to store them. */
export function SqlPage({ project }: { project: Project }): JSX.Element {
  const [sql, setSql] = useState('')
  const [before, setBefore] = useState<readonly SqlParameter[]>([])
  const [result, setResult] = useState<SqlResult | null>(null)
  const [kept, setKept] = useState(0)
  const { busy, problem, run } = useAction()
  const parameters = parametersOf(sql, before)
  const ask = (text: string, values: readonly SqlParameter[]) => {
    setSql(text)
    setBefore(values)
    const statement = { sql: text, parameters: parametersOf(text, values) }
    void run(async () => setResult(await readStatement(project.ref, statement)))
  }
  const isEmpty = sql.trim() === ''
  return (
    <div class="page">
      <div class="page-head">
        <h1>Ask the data</h1>
      </div>
      <QuestionForm project={project} onAsk={ask} />
      <Form class="card sql-box" aria-label="Statement" onSubmit={() => ask(sql, parameters)}>
        <SqlInput sql={sql} onSql={setSql} onAsk={() => !isEmpty && !busy && ask(sql, parameters)} />
        <TableList project={project} onSql={setSql} />
        <KeptQueries project={project} changed={kept} />
        <ParameterRows parameters={parameters} onChange={setBefore} />
        <div class="row">
          <button type="submit" class="button primary" disabled={busy || isEmpty} title="Ctrl+Enter">
            <Icon name="play" /> Run
          </button>
          <span class="dim small">Read-only, as the service role; at most 1,000 rows.</span>
        </div>
      </Form>
      {problem && <ProblemNotice problem={problem} />}
      {busy && <Loading what="Running" />}
      {result && !busy && !problem && (
        <>
          <Result project={project} result={result} />
          <KeepForm
            project={project}
            statement={{ sql, parameters }}
            hasMap={featuresOf(result).features.length > 0}
            onKept={() => setKept((n) => n + 1)}
          />
        </>
      )}
    </div>
  )
}

/** The text of the statement; Ctrl+Enter runs it. */
function SqlInput(props: { sql: string; onSql: (sql: string) => void; onAsk: () => void }): JSX.Element {
  const { sql, onSql, onAsk } = props
  return (
    <textarea
      class="textarea mono"
      aria-label="SQL"
      placeholder="select name, geom from public.my_table where name ilike :name"
      spellcheck={false}
      rows={Math.min(18, Math.max(5, sql.split('\n').length + 1))}
      value={sql}
      onInput={(event) => onSql(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onAsk()
      }}
    />
  )
}

const counted = (rows: number) => `${formatNumber(rows)} ${rows === 1 ? 'row' : 'rows'}`
const SHOWN = [
  { value: 'table', label: 'Table' },
  { value: 'map', label: 'Map' },
] as const

function Result({ project, result }: { project: Project; result: SqlResult }): JSX.Element {
  const [shown, setShown] = useState<'table' | 'map'>('table')
  const { rows, more, estimate, columns } = result
  const features = useMemo(() => featuresOf(result), [result])
  const hasMap = features.features.length > 0
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [result, shown])
  return (
    <section ref={box} class="card sql-result" aria-label="Result">
      <header>
        <h2>
          {more && 'The first '}
          {counted(rows.length)}
        </h2>
        <span
          class="dim small nums"
          title="Estimate of the query planner before the statement runs; the cost is in planner units"
        >
          Estimated cost {formatNumber(Math.round(estimate.cost))} for {counted(estimate.rows)}
        </span>
        {hasMap && <Segmented label="Show the result as" value={shown} options={SHOWN} onChange={setShown} />}
      </header>
      {hasMap && shown === 'map' ? (
        <ResultMap project={project} features={features} />
      ) : rows.length > 0 ? (
        <RowTable rows={rows} />
      ) : (
        <p class="body dim">No rows. Columns: {columns.map(({ name }) => name).join(', ')}</p>
      )}
    </section>
  )
}
