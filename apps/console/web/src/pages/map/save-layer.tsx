import { uuidv7 } from '@terrane/core'
import type { JSX } from 'preact'
import { Button, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { freeName, giveDropped } from '../../lib/dropped.ts'
import type { Examples } from '../../lib/embeddings.ts'
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
  /** Statement with the shown tiles. */
  readonly sql: string
  /** Examples of two classes; null when a side has none, or when ids are not exact as numbers. */
  readonly examples: Examples | null
}

/**
 * Saves the shown tiles as a table, or all tiles with a class that is learnt from the examples, and opens it as a layer
 * of a new map.
 */
export function SaveLayer({ projectRef, table, ending, sql, examples }: SaveLayerProps): JSX.Element {
  const { busy, problem, run } = useAction()
  // Like a dropped file, the layer makes a map that is saved.
  const open = (name: string) => {
    giveDropped({ id: uuidv7(), tables: [`public.${name}`], rasters: [] }, true)
    navigate(`/p/${projectRef}/maps/new`)
  }
  const free = async (wanted: string) => {
    const taken = await readTables(projectRef)
    return freeName(
      wanted.slice(0, 58),
      taken.map(({ table_name: name }) => name),
    )
  }
  const save = async () => {
    const name = await free(`${table}_${ending}`)
    await keepTable(projectRef, { sql, parameters: [] }, name)
    open(name)
  }
  const classify = async ({ like, unlike }: Examples) => {
    const tableName = await free(`${table}_classes`)
    const classifier = tableName
    const ids = { alike: like.map(Number), different: unlike.map(Number) }
    await endOfJob(projectRef, await submitJob(projectRef, 'trainClassifier', { table, classifier, ids }))
    await endOfJob(projectRef, await submitJob(projectRef, 'classifyEmbeddings', { table, classifier, tableName }))
    open(tableName)
  }
  return (
    <>
      <div class="row">
        <Button kind="small" disabled={busy} onClick={() => void run(save)}>
          <Icon name="plus" size={13} />
          Save as layer
        </Button>
        {examples && (
          <Button
            kind="small"
            disabled={busy}
            title="Learns from the examples, and gives each tile the class alike or different"
            onClick={() => void run(() => classify(examples))}
          >
            Classify all tiles
          </Button>
        )}
      </div>
      {busy && <Loading what="Making the layer" />}
      {problem && <ProblemNotice problem={problem} />}
    </>
  )
}
