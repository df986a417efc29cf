import type { JobWarning } from '@terrane/contracts'
import type { JSX } from 'preact'
import { formatNumber } from '../lib/format.ts'
import { Icon } from './icon.tsx'

const MOST_EXAMPLES = 3

/** Text of a warning's examples: numbers are row numbers, and strings are names. */
function exampleText(examples: readonly (number | string)[]): string {
  const shown = examples.slice(0, MOST_EXAMPLES).join(', ')
  if (typeof examples[0] === 'string') return `For example ${shown}`
  return `${examples.length === 1 ? 'Row' : 'Rows'} ${shown}${examples.length > MOST_EXAMPLES ? ', …' : ''}`
}

/** Warnings of a job or of an import preview, each with its count and examples. */
export function Warnings({ warnings }: { warnings: readonly JobWarning[] }): JSX.Element | null {
  if (warnings.length === 0) return null
  return (
    <div class="notice warn" role="status">
      <Icon name="alert" />
      <ul class="warnings">
        {warnings.map(({ code, message, layer, count, examples = [] }) => (
          <li key={`${code} ${layer ?? ''} ${message}`}>
            <strong>{message}</strong> <code class="faint">{code}</code>
            {count !== undefined && (
              <span class="small dim nums"> {count === 1 ? 'once' : `${formatNumber(count)} times`}</span>
            )}
            {layer !== undefined && <span class="small dim"> in layer {layer}</span>}
            {examples.length > 0 && <p class="hint small">{exampleText(examples)}</p>}
          </li>
        ))}
      </ul>
    </div>
  )
}
