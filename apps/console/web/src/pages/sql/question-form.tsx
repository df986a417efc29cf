import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { sharedColumn, sqlOf, type Question, type QuestionTable } from '@terrane/map-style/question'
import { Button, Loading, ProblemNotice, Segmented } from '../../components/basics.tsx'
import type { Project } from '../../lib/project.ts'
import { usePlace } from '../../lib/router.tsx'
import { bestPartner, readQuestionTable, type SqlParameter } from '../../lib/sql.ts'
import { readTables, tableLabel } from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'
import { Choice, NumberInput, Option } from '../maps/controls.tsx'

const VERBS = [
  { value: 'none', label: 'SQL' },
  { value: 'within', label: 'Within a distance' },
  { value: 'key', label: 'Join by key' },
  { value: 'place', label: 'Join by place' },
  { value: 'nearest', label: 'Nearest' },
] as const
type Verb = (typeof VERBS)[number]['value']
/** Labels of the two tables by kind of question. */
const SAID: Readonly<Record<Exclude<Verb, 'none'>, readonly [table: string, other: string]>> = {
  within: ['Rows of', 'near a row of'],
  key: ['Rows of', 'with columns of'],
  place: ['Areas of', 'count rows of'],
  nearest: ['Rows of', 'nearest row of'],
}

type OnAsk = (sql: string, parameters: readonly SqlParameter[]) => void

/** Four common questions, each converted to SQL. `?join=schema.table` begins with a join of that table. */
export function QuestionForm({ project, onAsk }: { project: Project; onAsk: OnAsk }): JSX.Element {
  const joined = usePlace().query.get('join')
  const [verb, setVerb] = useState<Verb>(joined === null ? 'none' : 'key')
  return (
    <>
      <Segmented label="Question" value={verb} options={VERBS} onChange={setVerb} />
      {verb !== 'none' && <Tables key={verb} project={project} verb={verb} joined={joined} onAsk={onAsk} />}
    </>
  )
}

function Tables(props: {
  project: Project
  verb: Exclude<Verb, 'none'>
  /** `schema.table` whose columns are to be joined to another table. */
  joined: string | null
  onAsk: OnAsk
}): JSX.Element {
  const { project, verb, joined, onAsk } = props
  const tables = useResource(`tables ${project.ref}`, (signal) => readTables(project.ref, signal))
  const [chosen, setChosen] = useState<readonly [string, string]>(['', ''])
  const usable = tables.value?.filter(({ geometry_type: kind }) => verb === 'key' || kind !== null) ?? []
  const names = usable.map(({ table_schema: schema, table_name: name }) => `${schema}.${name}`)
  const partner = useResource(`partner ${joined} ${verb}`, (signal) =>
    joined === null || verb !== 'key' ? Promise.resolve(null) : bestPartner(project.ref, joined, signal),
  )
  const map = usable.find(({ geometry_type: kind }) => kind !== null)
  const first = map && `${map.table_schema}.${map.table_name}`
  const given = verb === 'key' && joined !== null && !partner.loading ? [partner.value ?? first, joined] : names
  const [table = '', other = ''] = [chosen[0] || given[0], chosen[1] || (given[1] ?? given[0])]
  const both = useResource(`question ${project.ref} ${table} ${other}`, (signal) =>
    table === ''
      ? Promise.resolve(null)
      : Promise.all([table, other].map((one) => readQuestionTable(project.ref, one, signal))),
  )
  const problem = tables.problem ?? both.problem
  const options = names.map((name) => [name, tableLabel(name)] as const)
  const [saidTable, saidOther] = SAID[verb]
  const unusable = verb === 'key' ? undefined : both.value?.find(({ geometry }) => geometry === null)
  return (
    <div class="card body sql-question">
      {problem && <ProblemNotice problem={problem} />}
      {!problem && !both.value && tables.value?.length !== 0 && <Loading what="Loading tables" />}
      {tables.value && names.length === 0 && <p class="dim">No table fits this question. Drop a file on the page.</p>}
      {names.length > 0 && (
        <>
          <Option label={saidTable}>
            <Choice label={saidTable} value={table} options={options} onChoose={(next) => setChosen([next, other])} />
          </Option>
          <Option label={saidOther}>
            <Choice label={saidOther} value={other} options={options} onChoose={(next) => setChosen([table, next])} />
          </Option>
          {unusable && (
            <p class="dim">{tableLabel(unusable.table)} has no column of geometries in degrees (EPSG:4326).</p>
          )}
          {both.value && !unusable && !partner.loading && (
            <Details
              key={`${table} ${other}`}
              verb={verb}
              tables={both.value as [QuestionTable, QuestionTable]}
              onAsk={onAsk}
            />
          )}
        </>
      )}
    </div>
  )
}

/** Further inputs of a question besides its tables. */
function Details(props: {
  verb: Exclude<Verb, 'none'>
  tables: readonly [QuestionTable, QuestionTable]
  onAsk: OnAsk
}): JSX.Element {
  const { verb, onAsk } = props
  const [table, other] = props.tables
  const same = sharedColumn(table, other)
  const [keys, setKeys] = useState<readonly [string, string]>([same ?? table.columns[0]!, same ?? other.columns[0]!])
  const [meters, setMeters] = useState(500)
  const [sum, setSum] = useState('')
  const question = (): Question => {
    if (verb === 'key') return { verb, table, other, keys }
    return verb === 'place' ? { verb, table, other, sum: sum || null } : { verb, table, other }
  }
  const distance: SqlParameter = { name: 'distance', type: 'double precision', value: String(meters) }
  return (
    <>
      {verb === 'within' && (
        <Option label="Meters">
          <NumberInput label="Meters" value={meters} onNumber={(next) => setMeters(Math.max(0, next))} />
        </Option>
      )}
      {verb === 'key' && (
        <Option label="where">
          <Choice label="Key" value={keys[0]} options={table.columns} onChoose={(next) => setKeys([next, keys[1]])} />
          <Choice
            label="equals"
            value={keys[1]}
            options={other.columns}
            onChoose={(next) => setKeys([keys[0], next])}
          />
        </Option>
      )}
      {verb === 'place' && (
        <Option label="and sum">
          <Choice
            label="and sum"
            value={sum}
            options={[['', 'nothing'], ...other.columns.filter((column) => column !== other.geometry)]}
            onChoose={setSum}
          />
        </Option>
      )}
      <div class="row">
        <Button kind="primary" onClick={() => onAsk(sqlOf(question()), verb === 'within' ? [distance] : [])}>
          Ask
        </Button>
      </div>
    </>
  )
}
