import { DEFAULT_LIMITS } from '@terrane/routing'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('limits are those of Valhalla unless the settings file says otherwise', () => {
  expect(readConfig({}).limits).toEqual(DEFAULT_LIMITS)
  const modes = { motor_scooter: { locations: 7 }, pedestrian: { meters: 1000 } }
  const { limits } = readConfig({ TERRANE_SETTINGS: JSON.stringify({ router: { limits: { modes, alternates: 0 } } }) })
  expect(limits.modes.motor_scooter).toEqual({ locations: 7, meters: 500_000 })
  expect(limits.modes.pedestrian).toEqual({ locations: 50, meters: 1000 })
  expect(limits.modes.auto).toEqual(DEFAULT_LIMITS.modes.auto)
  expect(limits.alternates).toBe(0)
})

test('every problem is reported at once', () => {
  const read = () =>
    readConfig({
      TERRANE_ROUTING_DRIVING_SIDE: 'middle',
      TERRANE_SETTINGS: JSON.stringify({
        everyApp: { keys: { cacheMs: 30_001 } },
        router: { limits: { modes: { auto: { locations: 1 } } }, timeoutMs: 'soon' },
      }),
    })
  const members = ['everyApp.keys.cacheMs', 'router.limits.modes.auto.locations', 'router.timeoutMs']
  for (const name of ['TERRANE_ROUTING_DRIVING_SIDE', ...members]) expect(read).toThrow(name)
})
