import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/basics.tsx'
import { textOf, type CellEditor, type Row } from '../../components/row-table.tsx'
import type { Problem } from '../../lib/api.ts'
import { changeCell, readTableKey, type CellChange } from '../../lib/tables.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Cells of a table that are changed: their editor, why the last change was refused, and the buttons. */
export interface Cells {
  readonly editor: CellEditor | undefined
  readonly problem: Problem | null
  /** Column that keeps rows in place while they are changed; null for none. */
  readonly order: string | null
  readonly toggle: JSX.Element
}

/** Changes cells of rows that have a primary key, as the service role, and takes changes back. @param table `schema.table` */
export function useCells(ref: string, table: string, onChanged: () => void): Cells {
  const [isOn, setOn] = useState(false)
  const [done, setDone] = useState<readonly CellChange[]>([])
  const { busy, problem: refused, run } = useAction()
  const about = useResource(isOn ? `key ${ref} ${table}` : null, (signal) => readTableKey(ref, table, signal))
  const { key = [], fixed = [] } = about.value ?? {}
  const isPublic = table.startsWith('public.')
  const send = async (change: CellChange) => {
    let isKept = false
    await run(async () => {
      await changeCell(ref, table.slice('public.'.length), change)
      isKept = true
    })
    if (isKept) onChanged()
    return isKept
  }
  const keyOf = (row: Row) => Object.fromEntries(key.map((column) => [column, textOf(row[column]) ?? '']))
  const editor: CellEditor = {
    canEdit: (row, column) =>
      key.length > 0 && !fixed.includes(column) && isExact(row[column]) && key.every((name) => isExact(row[name])),
    edit: async (row, column, to) => {
      const change = { key: keyOf(row), column, from: textOf(row[column]), to }
      const isKept = await send(change)
      if (isKept) setDone((now) => [...now, change])
      return isKept
    },
  }
  const takeBack = async () => {
    const last = done.at(-1)!
    if (await send({ ...last, from: last.to, to: last.from })) setDone((now) => now.slice(0, -1))
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
      {isOn && (!isPublic || (about.value && key.length === 0)) && (
        <span class="small dim">This is a view or has no primary key, so its rows cannot be changed here.</span>
      )}
    </>
  )
  return {
    editor: isOn && isPublic ? editor : undefined,
    problem: refused ?? about.problem,
    order: key[0] ?? null,
    toggle,
  }
}

/** True for a value that its text gives back: no list, no geometry, no whole number that the page had to round. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null
}
