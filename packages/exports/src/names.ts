/** A name that differs from all others regardless of case: the wanted one, or that with a number appended. */
export function unusedName(wanted: string, others: Iterable<string>): string {
  const taken = new Set(Array.from(others, (name) => name.toLowerCase()))
  let name = wanted
  for (let i = 1; taken.has(name.toLowerCase()); i++) name = `${wanted}_${i}`
  return name
}
