/** A name that no other has, whatever its case: the wanted one, or one with a number behind it. */
export function unusedName(wanted: string, others: Iterable<string>): string {
  const taken = new Set(Array.from(others, (name) => name.toLowerCase()))
  let name = wanted
  for (let i = 1; taken.has(name.toLowerCase()); i++) name = `${wanted}_${i}`
  return name
}
