import { uuidv7 } from '@terrane/core'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { Button, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { freeName, giveDropped } from '../../lib/dropped.ts'
import { readClassifiers, type Examples } from '../../lib/embeddings.ts'
import { endOfJob, submitJob } from '../../lib/jobs.ts'
import { navigate } from '../../lib/router.tsx'
import { keepTable } from '../../lib/sql.ts'
import { readTables } from '../../lib/tables.ts'
import { useAction } from '../../lib/use-action.ts'

interface SaveLayerProps {
  readonly projectRef: string
  /** Name of the embeddings table. */
  readonly table: string
  /** Ending of the new table's name. */
  readonly ending: string
  /** Statement with the shown tiles; null while none are shown. */
  readonly sql: string | null
  /** Attribution of the tiles; null for none. */
  readonly attribution: string | null
  /** Examples of two classes; null when a side has none, or when ids are not exact as numbers. */
  readonly examples: Examples | null
}

/**
 * Saves the shown tiles as a table, or all tiles with a class that is learnt from the examples, and opens it as a layer
 * of a new map, unless the page was left meanwhile.
 */
export function SaveLayer(props: SaveLayerProps): JSX.Element {
  const { projectRef, table, ending, sql, attribution, examples } = props
  const { busy, problem, run } = useAction()
  const left = useMemo(() => new AbortController(), [])
  useEffect(() => () => left.abort(), [])
  // Like a dropped file, the layer makes a map that is saved.
  const open = (name: string) => {
    if (left.signal.aborted) return
    giveDropped({ id: uuidv7(), tables: [`public.${name}`], rasters: [] }, true)
    navigate(`/p/${projectRef}/maps/new`)
  }
  const free = async (wanted: string, others: readonly string[] = []) => {
    const taken = await readTables(projectRef)
    return freeName(wanted, [...taken.map(({ table_name: name }) => name), ...others])
  }
  const save = async (statement: string) => {
    const name = await free(named(table, ending))
    await keepTable(projectRef, { sql: statement, parameters: [] }, name, attribution)
    open(name)
  }
  const classify = async ({ like, unlike }: Examples) => {
    const wanted = named(table, 'classes')
    // A classifier of the same name would get a new version, which other jobs then use.
    const tableName = await free(wanted, await readClassifiers(projectRef, wanted))
    const job = (task: string, body: object) => submitJob(projectRef, task, { table, classifier: tableName, ...body })
    const ids = { alike: like.map(Number), different: unlike.map(Number) }
    await endOfJob(projectRef, await job('trainClassifier', { ids }), left.signal)
    await endOfJob(projectRef, await job('classifyEmbeddings', { tableName }), left.signal)
    open(tableName)
  }
  return (
    <>
      {sql !== null && (
        <div class="row">
          <Button kind="small" disabled={busy} onClick={() => void run(() => save(sql))}>
            <Icon name="plus" size={13} />
            Save as layer
          </Button>
          {examples && (
            <Button
              kind="small"
              disabled={busy}
              title="Trains a classifier on the examples and gives each tile the class alike or different"
              onClick={() => void run(() => classify(examples))}
            >
              Classify all tiles
            </Button>
          )}
        </div>
      )}
      {busy && <Loading what="Creating the layer" />}
      {problem && <ProblemNotice problem={problem} />}
    </>
  )
}

/** A name with its whole ending, of at most 58 characters. */
function named(table: string, ending: string): string {
  return `${table.slice(0, 57 - ending.length)}_${ending}`
}
