import { expect, test } from 'vitest'
import { groundOf } from './colors.ts'
import { contrastOn } from './contrast.ts'

test('the contrast of colours is that of WCAG', () => {
  // From the contrast checker of WebAIM
  expect(contrastOn('#ffffff', '#000000')).toBeCloseTo(21, 5)
  expect(contrastOn('#ffffff', '#777777')).toBeCloseTo(4.48, 2)
  expect([contrastOn('#ffffff', '#000000', 0), contrastOn('#ffffff', 'red')]).toEqual([1, null])
})

test('halos are clear on both themes; dark classes are faint on the dark one, light ones on the light one', () => {
  const [light, dark] = [groundOf(false), groundOf(true)]
  expect([light.isFaint(light.halo, 1), dark.isFaint(dark.halo, 1)]).toEqual([false, false])
  const [purple, yellow] = ['#440154', '#fde725']
  expect([dark.isFaint(purple, 1), dark.isFaint(yellow, 1)]).toEqual([true, false])
  expect([light.isFaint(purple, 1), light.isFaint(yellow, 1)]).toEqual([false, true])
  // Little of a clear colour is left at a low opacity.
  expect(dark.isFaint(yellow, 0.1)).toBe(true)
})
