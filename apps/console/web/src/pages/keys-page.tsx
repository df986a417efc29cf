import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Code, CopyButton, ProblemNotice } from '../components/basics.tsx'
import { Icon } from '../components/icon.tsx'
import { readKeys, type Keys } from '../lib/keys.ts'
import type { Project } from '../lib/project.ts'
import { useAction } from '../lib/use-action.ts'

const KEYS: readonly {
  readonly name: 'anon' | 'service_role' | 'services'
  readonly title: string
  readonly about: string
}[] = [
  {
    name: 'anon',
    title: 'anon',
    about: 'For browsers and apps. Safe to publish: it reads tables shared with anon and calls public functions.',
  },
  {
    name: 'service_role',
    title: 'service role',
    about: 'For your own servers only. It bypasses row-level security and submits jobs to a local worker.',
  },
  {
    name: 'services',
    title: 'Services API key',
    about:
      'For your own servers only. It calls the routing engine and submits jobs to a shared pool, for the whole organization.',
  },
]

/** The project's address and keys. They are read on a click and not kept after the page is left. */
export function KeysPage({ project }: { project: Project }): JSX.Element {
  const [keys, setKeys] = useState<Keys | null>(null)
  const { problem, run } = useAction()
  const show = () => void run(async () => setKeys(await readKeys(project.ref)))
  return (
    <div class="page">
      <div class="page-head">
        <h1>Keys</h1>
        <div class="actions">
          <Button kind="primary" onClick={() => (keys ? setKeys(null) : show())}>
            <Icon name="key" />
            {keys ? 'Hide the keys' : 'Show the keys'}
          </Button>
        </div>
      </div>
      {problem && <ProblemNotice problem={problem} onRetry={show} />}
      {keys?.url && (
        <section class="card" aria-label="URL">
          <header>
            <h2>URL of the project</h2>
          </header>
          <div class="body">
            <Code label="URL of the project" text={keys.url} />
          </div>
        </section>
      )}
      {KEYS.map(({ name, title, about }) => (
        <section key={name} class="card" aria-label={title}>
          <header>
            <h2>{title}</h2>
            {keys?.[name] && <CopyButton text={keys[name]} />}
          </header>
          <div class="body stack">
            <p class="dim">{about}</p>
            <code class="secret" aria-label={`Value of the key ${title}`}>
              {keys ? (keys[name] ?? 'This key is not configured in the console.') : '•'.repeat(32)}
            </code>
          </div>
        </section>
      ))}
      {keys?.url && keys.anon && (
        <section class="card" aria-label="In a program">
          <header>
            <h2>In a program</h2>
          </header>
          <div class="body stack">
            <Code
              label="With supabase-js"
              text={`import { createClient } from '@supabase/supabase-js'\n\nconst supabase = createClient('${keys.url}', '${keys.anon}')`}
            />
            <Code label="In a shell" text={`export PROJECT_URL='${keys.url}'\nexport ANON_KEY='${keys.anon}'`} />
          </div>
        </section>
      )}
    </div>
  )
}
