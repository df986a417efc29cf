import { expect, test } from 'vitest'
import { conditionsOf, fitted } from './options.ts'

test('a filter has a condition and a value of its property’s kind', () => {
  const filter = { property: 'a', is: 'contains', value: '0.05' } as const
  expect(fitted(filter, 'Number')).toEqual({ property: 'a', is: 'equal', value: 0.05 })
  expect(fitted({ ...filter, value: '-0.5' }, 'Number').value).toBe(-0.5)
  for (const value of ['', 'abc', '1e999', true]) expect(fitted({ ...filter, value }, 'Number').value).toBe(0)
  expect(fitted({ property: 'a', is: 'less', value: 3 }, 'String')).toEqual({ property: 'a', is: 'equal', value: '3' })
  expect(fitted({ property: 'a', is: 'filled', value: '' }, 'Boolean')).toEqual({
    property: 'a',
    is: 'filled',
    value: true,
  })
  expect(fitted({ property: 'a', is: 'not', value: false }, 'Boolean').value).toBe(false)
  // With an unknown kind, the filter is not changed.
  expect(fitted(filter, undefined)).toEqual(filter)
  expect(conditionsOf('String')).not.toContain('less')
  expect(conditionsOf('Number')).not.toContain('contains')
})
