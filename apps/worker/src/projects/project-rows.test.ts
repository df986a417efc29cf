import type { Database } from '@terrane/database'
import { expect, test } from 'vitest'
import { ProjectRows } from './project-rows.ts'

interface Row {
  readonly id: string
  readonly project_ref: string
  readonly name: string
  readonly paused: boolean
}

/** Rows whose statements are written down, with the value of each column that they set. */
function openRows() {
  const asked: [string, unknown[]][] = []
  const query = async (text: string, values: unknown[]) => {
    asked.push([text, values])
    return { rows: [] }
  }
  return { asked, rows: new ProjectRows<Row, 'id' | 'name' | 'paused'>({ query } as unknown as Database, 'webhooks') }
}

const MINE = { projectRef: 'mine', organizationId: null, projectId: null }

test('a row is of the project that asks, whatever its columns say', async () => {
  const { asked, rows } = openRows()
  const columns = { name: 'a', project_ref: 'theirs', id: '1', paused: false }
  await rows.insert(MINE, 5, columns)
  const [[text, values]] = asked as [[string, unknown[]]]
  expect(text).toContain('(project_ref,organization_id,project_id,name,id,paused) select $1,$2,$3,$4,$5,$6')
  expect(values).toEqual(['mine', null, null, 'a', '1', false, 5])
  // @ts-expect-error: a record needs `paused`, too
  await rows.insert(MINE, 5, { id: '1', name: 'a' })
  // @ts-expect-error: rows stay in their project
  await rows.update('1', { project_ref: 'theirs' })
})

test('what is undefined stays as it is', async () => {
  const { asked, rows } = openRows()
  const paused: boolean | undefined = undefined
  await rows.update('1', { name: 'b', ...({ paused } as object) })
  await rows.update('1', {})
  expect(asked.map(([text, values]) => [/set (.*?)updated_at/.exec(text)![1], values])).toEqual([
    ['name = $2, ', ['1', 'b']],
    ['', ['1']],
  ])
})
