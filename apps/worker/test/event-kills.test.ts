// Slow: changes are delivered by processes; one is killed and started again.
import { expect, test } from 'vitest'
import { deliverUnderKills } from './event-kills.ts'

test(
  'events of changes survive a deliverer that is killed: none lost, in order, none undone',
  { timeout: 600_000 },
  async () => {
    const { repeated } = await deliverUnderKills({ changes: 120, keys: 12, kills: 1, workers: 1, seed: 5 })
    expect(repeated).toBeGreaterThan(0)
  },
)
