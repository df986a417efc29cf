import type { JobWarning } from '@terrane/contracts'
import type { JSX } from 'preact'
import { formatNumber } from '../lib/format.ts'
import { Icon } from './icon.tsx'

const MOST_EXAMPLES = 3

/** What a job lost, left out or did not find, or what an import would: each with its count and examples. */
export function Warnings({ warnings }: { warnings: readonly JobWarning[] }): JSX.Element | null {
  if (warnings.length === 0) return null
  return (
    <div class="notice warn" role="status">
      <Icon name="alert" />
      <ul class="warnings">
        {warnings.map(({ code, message, layer, count, examples = [] }) => (
          <li key={`${code} ${layer ?? ''} ${message}`}>
            <strong>{message}</strong> <code class="faint">{code}</code>
            {count !== undefined && <span class="small dim nums"> {formatNumber(count)} times</span>}
            {layer !== undefined && <span class="small dim"> in layer {layer}</span>}
            {examples.length > 0 && <p class="hint small">For example {examples.slice(0, MOST_EXAMPLES).join('; ')}</p>}
          </li>
        ))}
      </ul>
    </div>
  )
}
