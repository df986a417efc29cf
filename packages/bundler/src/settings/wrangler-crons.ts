const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const

/**
 * A cron expression of Workers, whose days of the week are 1 to 7 from Sunday on, as one whose days are 0 to 6. Ranges
 * over the end of the week, and steps, become lists.
 *
 * @throws Error for an invalid day of the week
 */
export function fromSunday(cron: string): string {
  const fields = cron.trim().split(/\s+/)
  const days = fields[4]
  if (fields.length !== 5 || days === undefined) return cron
  const parts = days.split(',').map((part) => partOf(part))
  if (parts.includes(null))
    throw new Error(`triggers.crons: '${days}' of '${cron}' has to be days, 1 to 7 from Sunday on`)
  fields[4] = parts.join(',')
  return fields.join(' ')
}

function partOf(part: string): string | null {
  if (/^(?:[*?]|\*\/[1-7])$/.test(part)) return part
  if (/^L$/i.test(part)) return '6'
  const nth = /^([1-7]|[a-z]{3})(#[1-5]|L)$/i.exec(part)
  if (nth) {
    const day = dayOf(nth[1]!)
    return day === null ? null : `${day}${nth[2]!.toUpperCase()}`
  }
  const [, from = '', to, step] = /^([1-7]|[a-z]{3})(?:-([1-7]|[a-z]{3}))?(?:\/([1-7]))?$/i.exec(part) ?? []
  const first = dayOf(from)
  // A step without an end runs to Saturday.
  const last = to === undefined ? (step === undefined ? first : 6) : dayOf(to)
  if (first === null || last === null) return null
  if (step === undefined && first <= last) return part.replaceAll(/[1-7]/g, (digit) => String(Number(digit) - 1))
  const found: number[] = []
  for (let day = first; day <= (last < first ? last + 7 : last); day += Number(step ?? 1)) found.push(day % 7)
  return found.join(',')
}

function dayOf(text: string): number | null {
  if (/^[1-7]$/.test(text)) return Number(text) - 1
  const at = DAYS.findIndex((name) => name === text.toUpperCase())
  return at === -1 ? null : at
}
