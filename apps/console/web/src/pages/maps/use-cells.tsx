import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/basics.tsx'
import { textOf, type CellEditor } from '../../components/row-table.tsx'
import type { Problem } from '../../lib/api.ts'
import { changeCell, readTableKey, type CellChange } from '../../lib/tables.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Editing of a table's cells: the editor, the error of the last change, and the buttons. */
export interface Cells {
  readonly editor: CellEditor | undefined
  readonly problem: Problem | null
  readonly retry: () => void
  /** Column that keeps rows in place while they are changed; null for none. */
  readonly order: string | null
  readonly toggle: JSX.Element
}

/** Edits cells of a table with a primary key as the service role, with undo. @param table `schema.table` */
export function useCells(ref: string, table: string, onChanged: () => void): Cells {
  const [isOn, setOn] = useState(false)
  const [done, setDone] = useState<readonly CellChange[]>([])
  const { busy, problem: refused, run, clear } = useAction()
  const about = useResource(isOn ? `key ${ref} ${table}` : null, (signal) => readTableKey(ref, table, signal))
  const { key = [], fixed = [] } = about.value ?? {}
  /** Returns the stored value, which may differ from the sent one; undefined when the change was refused. */
  const send = async (change: CellChange) => {
    let kept: string | null | undefined
    await run(async () => {
      kept = (await changeCell(ref, table, change)).value
      onChanged()
    })
    return kept
  }
  const editor: CellEditor = {
    canEdit: (row, column) => !fixed.includes(column) && [column, ...key].every((name) => isExact(row[name])),
    edit: async (row, column, to) => {
      const named = Object.fromEntries(key.map((name) => [name, textOf(row[name])!]))
      const change = { key: named, column, from: textOf(row[column]), to }
      const kept = await send(change)
      if (kept !== undefined) setDone((now) => [...now, { ...change, to: kept }])
      return kept !== undefined
    },
  }
  const takeBack = async () => {
    const last = done.at(-1)!
    if ((await send({ ...last, from: last.to, to: last.from })) !== undefined) setDone((now) => now.slice(0, -1))
  }
  const toggle = (
    <>
      <label class="check small">
        <input type="checkbox" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} />
        Edit cells
      </label>
      {isOn && (
        <Button kind="small" disabled={busy || done.length === 0} onClick={() => void takeBack()}>
          Undo the last edit
        </Button>
      )}
      {about.value && key.length === 0 && (
        <span class="small dim">Only tables of the schema public with a primary key can be edited.</span>
      )}
    </>
  )
  const retry = () => {
    clear()
    about.reload()
  }
  const problem = refused ?? about.problem
  return { editor: key.length > 0 ? editor : undefined, problem, retry, order: key[0] ?? null, toggle }
}

/**
 * True for a value that can be restored from its text: one line, short enough for the comparison, and no integer that
 * the page had to round.
 */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (typeof value === 'string') return value.length <= 1000 && !/[\r\n]/.test(value)
  return typeof value !== 'object' || value === null
}
