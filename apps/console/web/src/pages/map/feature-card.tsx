import type { JSX } from 'preact'
import { Button, IconButton } from '../../components/basics.tsx'
import { useState } from 'preact/hooks'

export interface ClickedFeature {
  readonly layer: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** Properties of the features under a click, one feature at a time. */
export function FeatureCard(props: { features: readonly ClickedFeature[]; onClose: () => void }): JSX.Element | null {
  const { features, onClose } = props
  const [at, setAt] = useState(0)
  const index = Math.min(at, features.length - 1)
  const feature = features[index]
  if (!feature) return null
  const facts = Object.entries(feature.properties).filter(([, value]) => value !== null && value !== '')
  return (
    <section class="feature-card card" aria-label="Feature">
      <header>
        <strong class="truncate">{feature.layer}</strong>
        <span class="paging">
          {features.length > 1 && (
            <>
              <Button kind="small quiet" disabled={index === 0} onClick={() => setAt(index - 1)}>
                Previous
              </Button>
              <span class="small dim nums">
                {index + 1} of {features.length}
              </span>
              <Button kind="small quiet" disabled={index === features.length - 1} onClick={() => setAt(index + 1)}>
                Next
              </Button>
            </>
          )}
          <IconButton label="Close" icon="close" onClick={onClose} />
        </span>
      </header>
      <dl class="facts small" tabIndex={0}>
        {facts.map(([name, value]) => (
          <>
            <dt key={`t${name}`}>{name}</dt>
            <dd key={`d${name}`}>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </>
        ))}
        {facts.length === 0 && <dt>It has no properties.</dt>}
      </dl>
    </section>
  )
}
