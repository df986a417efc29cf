import { expect, test } from 'vitest'
import { replaceNames } from './sql-text.ts'

test('names after a colon are replaced, except in text, quoted names, comments, casts and subscripts', () => {
  const given = [
    [`select :a, :b_2 from t where x = :a`, `select <a>, <b_2> from t where x = <a>`],
    [`select ':a', 'it''s :a', E'\\':a', ":a", $$:a$$, $x$ $$ :a $x$, :a`, null],
    [`select x::text, y[1:a], z -- :a\n, /* :a */ :a`, null],
    [`select ':a, :a`, `select ':a, :a`],
    [`select array[:a, [:a]], y[:a], y[(:a)], f[1:a] = :a`, `select array[<a>, [<a>]], y[:a], y[(<a>)], f[1:a] = <a>`],
    [
      `/* /* */ :a */ select name'\\', :a, x$a$, :a, E'\\', :a'`,
      `/* /* */ :a */ select name'\\', <a>, x$a$, <a>, E'\\', :a'`,
    ],
    [`select $é$ :a $é$, date':a', 'e''\\', :a`, `select $é$ :a $é$, date':a', 'e''\\', <a>`],
    [`select E'it''s \\' :a', :a`, `select E'it''s \\' :a', <a>`],
    [`select y[1, :a`, `select y[1, :a`],
    [`select :`, `select :`],
  ] as const
  for (const [sql, wanted] of given)
    expect(replaceNames(sql, (name) => `<${name}>`)).toBe(wanted ?? sql.replace(/:a$/, '<a>'))
  expect(replaceNames('select :a', () => null)).toBe('select :a')
})
