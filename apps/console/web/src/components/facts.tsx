import type { ComponentChildren, JSX } from 'preact'

/** Terms and their values, one line each. */
export function Facts(props: {
  rows: readonly (readonly [string, ComponentChildren])[]
  /** Additional CSS classes of the list. */
  class?: string
}): JSX.Element {
  return (
    <dl class={`facts ${props.class ?? ''}`}>
      {props.rows.flatMap(([term, value]) => [<dt key={`t${term}`}>{term}</dt>, <dd key={`d${term}`}>{value}</dd>])}
    </dl>
  )
}
