import { expect, test } from 'vitest'
import { JOB_ENTRY, TABLE_ENTRY, readJobEntry, readTableEntry } from './function-hooks.ts'

test.each([
  ['insert on orders', { table: 'orders', events: ['INSERT'], columns: null }],
  ['insert or update of status, total on Orders', { table: 'Orders', events: ['INSERT', 'UPDATE'], columns: ['status', 'total'] }], // prettier-ignore
  ['update of on or delete on on', { table: 'on', events: ['UPDATE', 'DELETE'], columns: ['on'] }],
  ['update or update of a on t', { table: 't', events: ['UPDATE'], columns: null }],
])('the entry "%s" of tables', (entry, read) => {
  expect(entry).toMatch(new RegExp(TABLE_ENTRY))
  expect(readTableEntry(entry)).toEqual(read)
})

test.each([
  ['*', { tasks: null, statuses: ['success', 'failed'] }],
  ['exportTable', { tasks: ['exportTable'], statuses: ['success', 'failed'] }],
  ['exportTable: failed', { tasks: ['exportTable'], statuses: ['failed'] }],
])('the entry "%s" of jobs', (entry, read) => {
  expect(entry).toMatch(new RegExp(JOB_ENTRY))
  expect(readJobEntry(entry)).toEqual(read)
})

test.each([
  ['orders', 'insert on terrane.events', 'insert on "orders"', 'truncate on orders', 'insert of id on orders'],
  ['insert on orders; drop table orders', 'insert on orders\n', 'INSERT on orders', 'insert  on orders', ' on orders'],
])('other words are no entry of tables', (...entries) => {
  for (const entry of entries) expect(entry).not.toMatch(new RegExp(TABLE_ENTRY))
})

test('other words are no entry of jobs', () => {
  for (const entry of ['', 'exportTable:failed', 'noTask', '* : failed', '*: cancelled'])
    expect(entry).not.toMatch(new RegExp(JOB_ENTRY))
})
