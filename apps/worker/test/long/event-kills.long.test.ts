import { expect, test } from 'vitest'
import { deliverUnderKills } from '../event-kills.ts'

// Slow: 10,000 deliveries by processes that are killed and started again.
test('10,000 changes are delivered by processes that are killed five times', { timeout: 1_200_000 }, async () => {
  const { repeated } = await deliverUnderKills({ changes: 10_000, keys: 200, kills: 5, workers: 2, seed: 7 })
  expect(repeated).toBeGreaterThan(0)
})
