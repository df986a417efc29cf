import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Loading, ProblemNotice } from './components/basics.tsx'
import { lazyComponent } from './components/lazy.tsx'
import { Shell } from './layout/shell.tsx'
import { lapsed, loadSession, session, toProblem, type Problem } from './lib/api.ts'
import { readProject, type Project } from './lib/project.ts'
import { Link, match, navigate, usePlace } from './lib/router.tsx'
import { useStore } from './lib/store.ts'
import { useResource } from './lib/use-resource.ts'
import { DataPage } from './pages/data/data-page.tsx'
import { JobPage } from './pages/jobs/job-page.tsx'
import { JobsPage } from './pages/jobs/jobs-page.tsx'
import { SchedulesPage } from './pages/jobs/schedules-page.tsx'
import { TasksPage } from './pages/jobs/tasks-page.tsx'
import { ProjectsPage } from './pages/projects-page.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'

/**
 * The map engine is larger than all other code, and forms include the code for areas. Pages that are not shown first
 * are loaded when needed.
 */
const FunctionsPage = lazyComponent(() =>
  import('./pages/functions/functions-page.tsx').then((module) => module.FunctionsPage),
)
const KeysPage = lazyComponent(() => import('./pages/keys-page.tsx').then((module) => module.KeysPage))
const NewJobPage = lazyComponent(() => import('./pages/jobs/new-job-page.tsx').then((module) => module.NewJobPage))
const WebhooksPage = lazyComponent(() => import('./pages/jobs/webhooks-page.tsx').then((module) => module.WebhooksPage))
const MapPage = lazyComponent(() => import('./pages/map/map-page.tsx').then((module) => module.MapPage))
const MapsPage = lazyComponent(() => import('./pages/maps/maps-page.tsx').then((module) => module.MapsPage))
const EditMapPage = lazyComponent(() => import('./pages/maps/map-page.tsx').then((module) => module.EditMapPage))
const SqlPage = lazyComponent(() => import('./pages/sql/sql-page.tsx').then((module) => module.SqlPage))
const RoutePage = lazyComponent(() => import('./pages/route/route-page.tsx').then((module) => module.RoutePage))

type Params = Readonly<Record<string, string>>

/** The pages of a project, with address, title and component. */
const PAGES: readonly {
  readonly pattern: string
  readonly title: (params: Params) => string
  readonly show: (project: Project, params: Params) => JSX.Element
}[] = [
  { pattern: '/p/:ref', title: () => 'Data', show: (project) => <DataPage project={project} /> },
  { pattern: '/p/:ref/data', title: () => 'Data', show: (project) => <DataPage project={project} /> },
  { pattern: '/p/:ref/jobs', title: () => 'Jobs', show: (project) => <JobsPage project={project} /> },
  { pattern: '/p/:ref/schedules', title: () => 'Schedules', show: (project) => <SchedulesPage project={project} /> },
  { pattern: '/p/:ref/webhooks', title: () => 'Webhooks', show: (project) => <WebhooksPage project={project} /> },
  { pattern: '/p/:ref/keys', title: () => 'Keys', show: (project) => <KeysPage project={project} /> },
  { pattern: '/p/:ref/new', title: () => 'Add data', show: (project) => <TasksPage project={project} /> },
  {
    pattern: '/p/:ref/new/:task',
    title: () => 'New job',
    show: (project, { task = '' }) => <NewJobPage key={task} project={project} task={task} />,
  },
  {
    pattern: '/p/:ref/jobs/:task/:id',
    title: () => 'Job',
    show: (project, { task = '', id = '' }) => <JobPage key={id} project={project} task={task} id={id} />,
  },
  { pattern: '/p/:ref/maps', title: () => 'Maps', show: (project) => <MapsPage project={project} /> },
  {
    pattern: '/p/:ref/maps/:id',
    title: () => 'Map',
    show: (project, { id = '' }) => <EditMapPage project={project} id={id} />,
  },
  { pattern: '/p/:ref/map', title: () => 'Explore embeddings', show: (project) => <FormerMapPage project={project} /> },
  { pattern: '/p/:ref/sql', title: () => 'Ask the data', show: (project) => <SqlPage project={project} /> },
  { pattern: '/p/:ref/route', title: () => 'Route', show: (project) => <RoutePage project={project} /> },
  { pattern: '/p/:ref/functions', title: () => 'Functions', show: (project) => <FunctionsPage project={project} /> },
  {
    pattern: '/p/:ref/functions/:name',
    title: ({ name = '' }) => name,
    show: (project, { name = '' }) => <FunctionsPage project={project} name={name} />,
  },
]

/** Redirects former addresses of embeddings tables, `?table=`, to the map page. */
function FormerMapPage({ project }: { project: Project }): JSX.Element {
  const table = usePlace().query.get('table')
  useEffect(() => {
    if (table !== null) navigate(`/p/${project.ref}/maps/new?${new URLSearchParams({ table })}`, { replace: true })
  }, [table])
  return table === null ? <MapPage project={project} /> : <Loading />
}

/** The page: sign-in first, then the projects, then a project. */
export function App(): JSX.Element {
  const signedIn = useStore(session)
  const left = useStore(lapsed)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { path } = usePlace()
  const load = () => {
    setProblem(null)
    loadSession().catch((error: unknown) => setProblem(toProblem(error)))
  }
  useEffect(load, [])
  useEffect(() => {
    if (!left || signedIn) return
    // Notices a sign-in in another tab.
    const look = () => void loadSession().catch(() => {})
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [left, signedIn])
  if (problem) {
    return (
      <main class="center">
        <ProblemNotice problem={problem} onRetry={load} />
      </main>
    )
  }
  if (signedIn === undefined) {
    return (
      <main class="center">
        <Loading />
      </main>
    )
  }
  const who = signedIn ?? left
  if (!who) return <SignInPage />
  const ref = /^\/p\/([^/]+)/.exec(path)?.[1]
  // Keeps what was typed when a session ends; discards it when another person signs in.
  return (
    <>
      {!signedIn && <SignInPage ended />}
      <div key={who.user.id} class="signed-in" hidden={!signedIn}>
        {ref === undefined ? <ProjectsPage /> : <ProjectPages key={ref} projectRef={decodeURIComponent(ref)} />}
      </div>
    </>
  )
}

function ProjectPages({ projectRef }: { projectRef: string }): JSX.Element {
  const { path } = usePlace()
  const project = useResource(projectRef, (signal) => readProject(projectRef, signal))
  const found = PAGES.map((page) => ({ page, params: match(page.pattern, path) })).find(({ params }) => params !== null)
  const title = found?.params ? found.page.title(found.params) : 'Not found'
  useEffect(() => {
    document.title = `${title} · ${project.value?.name ?? projectRef} · Terrane`
  }, [title, project.value?.name])
  return (
    <Shell project={project.value ?? { ref: projectRef, reference: projectRef, name: projectRef }}>
      {project.problem && (
        <div class="page">
          <h1 class="visually-hidden">Project</h1>
          <ProblemNotice problem={project.problem} onRetry={project.reload} />
          <Link href="/">All projects</Link>
        </div>
      )}
      {!project.value && !project.problem && <Loading />}
      {project.value && found?.params && found.page.show(project.value, found.params)}
      {project.value && !found?.params && (
        <Empty icon="search" title="Page not found" isPage>
          <Link href={`/p/${projectRef}/data`}>Go to the data</Link>
        </Empty>
      )}
    </Shell>
  )
}
