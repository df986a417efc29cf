import { DEFAULT_LIMITS } from '@terrane/routing'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

const KEY = {}

test('limits are those of Valhalla unless a variable says otherwise', () => {
  expect(readConfig(KEY).limits).toEqual(DEFAULT_LIMITS)
  const { limits } = readConfig({
    ...KEY,
    TERRANE_ROUTING_MOTOR_SCOOTER_MAX_LOCATIONS: '7',
    TERRANE_ROUTING_PEDESTRIAN_MAX_METERS: '1000',
    TERRANE_ROUTING_MAX_ALTERNATES: '0',
  })
  expect(limits.modes.motor_scooter).toEqual({ locations: 7, meters: 500_000 })
  expect(limits.modes.pedestrian).toEqual({ locations: 50, meters: 1000 })
  expect(limits.modes.auto).toEqual(DEFAULT_LIMITS.modes.auto)
  expect(limits.alternates).toBe(0)
})

test('every problem is reported at once', () => {
  const read = () =>
    readConfig({
      TERRANE_KEYS_CACHE_MS: '30001',
      TERRANE_ROUTING_AUTO_MAX_LOCATIONS: '1',
      TERRANE_ROUTING_DRIVING_SIDE: 'middle',
      TERRANE_ROUTING_TIMEOUT_MS: 'soon',
    })
  for (const name of ['KEYS_CACHE_MS', 'ROUTING_AUTO_MAX_LOCATIONS', 'ROUTING_DRIVING_SIDE', 'ROUTING_TIMEOUT_MS'])
    expect(read).toThrow(`TERRANE_${name}`)
})
