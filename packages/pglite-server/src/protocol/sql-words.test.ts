import { expect, test } from 'vitest'
import { statementsOf } from './sql-words.ts'

test.each([
  [
    'SET ROLE anon; select 1',
    [
      ['set', 'role', 'anon'],
      ['select', '1'],
    ],
  ],
  ['/* a; /* b */ set */ Set x = 1', [['set', 'x', '1']]],
  ['-- set role a;\nselect 1', [['select', '1']]],
  [`select 'it''s; set role x', "odd;""name" from t`, [['select', 'from', 't']]],
  [
    String.raw`select E'a\'; set role x' ; reset all`,
    [
      ['select', 'e'],
      ['reset', 'all'],
    ],
  ],
  [`do $$ begin set role x; end $$; select $tag$ ; $$ $tag$, $1`, [['do'], ['select']]],
  [`select '/*'; /* c */ set role anon; select '*/'`, [['select'], ['set', 'role', 'anon'], ['select']]],
  [`select 'never ends; set role x`, [['select']]],
  ['', []],
])('the words of %j', (sql, words) => {
  expect(statementsOf(sql)).toEqual(words)
})
