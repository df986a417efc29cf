import type { ComponentChildren, JSX } from 'preact'
import { Link } from '../../lib/router.tsx'

/** Link back to the list of jobs. */
export function Crumbs({ projectRef, children }: { projectRef: string; children?: ComponentChildren }): JSX.Element {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <Link href={`/p/${projectRef}/jobs`}>Jobs</Link>
      {children}
    </nav>
  )
}
