import { CronExpressionParser } from 'cron-parser'
import { invalidPolicy } from './errors.ts'
import { CRON_ENTRY, type Policy } from './policy.ts'

const isCronEntry = new RegExp(CRON_ENTRY)
/** `H` stands for a number that is random at each evaluation. */
const RANDOM = /(?:^|[ ,])H/i

/**
 * The policy with the crons that the function's code sets up when it starts.
 *
 * @throws FUNCTION_POLICY_INVALID for an unknown time zone, an entry that is not a cron expression, and one that never
 * comes
 */
export function withCrons(policy: Policy, crons: readonly string[]): Policy {
  const schedule = [...new Set([...policy.schedule, ...crons])]
  if (!isZone(policy.time_zone)) throw refuse('/time_zone', 'must be a time zone of the IANA database')
  for (const entry of schedule) {
    const shown = `'${entry.slice(0, 100)}'`
    if (!isCronEntry.test(entry) || entry.length > 300)
      throw refuse('/schedule', `Deno.cron has ${shown}, which is not a name with five fields`)
    const reason = reasonAgainst(entry.slice(entry.indexOf(': ') + 1).trim(), policy.time_zone)
    if (reason !== null) throw refuse('/schedule', `${shown} ${reason}`)
  }
  return { ...policy, schedule }
}

function refuse(path: string, message: string): Error {
  return invalidPolicy({ errors: [{ path, message }] })
}

function reasonAgainst(cron: string, timeZone: string): string | null {
  if (RANDOM.test(cron)) return 'has H, a random number'
  try {
    CronExpressionParser.parse(cron, { tz: timeZone }).next()
    return null
  } catch (error) {
    return `has no time: ${(error as Error).message}`
  }
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
