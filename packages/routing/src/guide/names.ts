import type { Name } from '../graph/texts.ts'

/** The names that are also in another list, in their order. */
export function commonNames(names: readonly Name[], others: readonly Name[]): readonly Name[] {
  if (names === others) return names
  return names.filter(({ text }) => others.some((other) => other.text === text))
}

/** Whether all names are among those of another list. */
export function allCommon(names: readonly Name[], others: readonly Name[]): boolean {
  return names.length > 0 && commonNames(others, names).length === names.length
}

/** Whether all names are in another list, with the same kind (name or route number). */
export function allSame(names: readonly Name[], others: readonly Name[]): boolean {
  if (names.length === 0) return false
  const same = others.filter((other) =>
    names.some(({ text, isRouteNumber }) => text === other.text && isRouteNumber === other.isRouteNumber),
  )
  return same.length === names.length
}
