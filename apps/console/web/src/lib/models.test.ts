import { expect, test } from 'vitest'
import { BUILT_IN_MODEL, modelInstead } from './models.ts'

const model = (id: string, available = true, isDefault = false) => ({ id, available, is_default: isDefault })

test('a form names a model only when the default is missing, and never one that was added', () => {
  const others = [model('an-own-one'), model(BUILT_IN_MODEL), model('zebra')]
  expect(modelInstead([model('learned', true, true), ...others])).toBeUndefined()
  expect(modelInstead([model('learned', false, true), ...others])).toBe(BUILT_IN_MODEL)
  expect(modelInstead([model('learned', false, true), model('only')])).toBe('only')
  expect(modelInstead([])).toBeUndefined()
})
