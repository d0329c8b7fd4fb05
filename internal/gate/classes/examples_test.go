package classes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The base's examples of documentation take the place of the head's that are of the same
// thing; other text of the head stays, its new examples, too.
func TestExamplesOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, base, head, want string }{
		"python": {
			"a.py",
			"def add(a, b):\n    \"\"\"Old.\n\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a + b\n",
			"import os\n\ndef half(a: dict[str, int]) -> int:  # : new\n    \"\"\"\n    >>> half(2)\n    1\n    \"\"\"\n\ndef add(a, b=':'):\n    # why\n    \"\"\"New.\n\n    >>> add(1, 2)\n    4\n    \"\"\"\n    return a + b + 1\n",
			"import os\n\ndef half(a: dict[str, int]) -> int:  # : new\n    \"\"\"\n    >>> half(2)\n    1\n    \"\"\"\n\ndef add(a, b=':'):\n    # why\n    \"\"\"Old.\n\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a + b + 1\n",
		},
		"python, of a module, a class and its methods": {
			"a.py",
			"'''\n>>> one\n1\n'''\nclass A:\n    def f(self):\n        '''\n        >>> A().f()\n        1\n        '''\nclass B:\n    def f(self):\n        '''\n        >>> B().f()\n        2\n        '''\n",
			"'''\n>>> one\n3\n'''\nclass B:\n    def f(self):\n        '''\n        >>> B().f()\n        3\n        '''\nclass A:\n    def f(self):\n        '''\n        >>> A().f()\n        3\n        '''\n",
			"'''\n>>> one\n1\n'''\nclass B:\n    def f(self):\n        '''\n        >>> B().f()\n        2\n        '''\nclass A:\n    def f(self):\n        '''\n        >>> A().f()\n        1\n        '''\n",
		},
		"python, no example": {
			"a.py",
			"def f():\n    \"\"\"Old.\"\"\"\n",
			"def f():\n    \"\"\"New.\"\"\"\n",
			"def f():\n    \"\"\"New.\"\"\"\n",
		},
		"python, examples that are gone": {
			"a.py",
			"'''\n>>> one\n1\n'''\ndef f():\n    \"\"\"Old.\n\n    >>> f()\n    1\n    \"\"\"\n    return 1\ndef g():\n    \"\"\">>> g()\n    2\n    \"\"\"\n    return 2\ndef h():\n    \"\"\">>> h()\n    3\n    \"\"\"\n    return 3\n",
			"one = 1\ndef f():\n    \"\"\"New.\"\"\"\n    return 0\ndef g():\n    return 0\ndef h(): return 0\n",
			"\"\"\"\n>>> one\n1\n\"\"\"\none = 1\ndef f():\n    \"\"\"Old.\n\n    >>> f()\n    1\n    \"\"\"\n    return 0\ndef g():\n    \"\"\">>> g()\n    2\n    \"\"\"\n    return 0\ndef h(): \"\"\">>> h()\n    3\n    \"\"\"; return 0\n",
		},
		"elixir, an example that is gone": {
			"a.ex",
			"defmodule A do\n  @doc \"\"\"\n      iex> A.f()\n      3\n  \"\"\"\n  def f, do: 3\nend\n",
			"defmodule A do\n  @doc \"\"\"\n  New.\n  \"\"\"\n  def f, do: 4\nend\n",
			"defmodule A do\n  @doc \"\"\"\n      iex> A.f()\n      3\n  \"\"\"\n  def f, do: 4\nend\n",
		},
		"elixir": {
			"a.ex",
			"defmodule A do\n  @doc \"\"\"\n  Old.\n\n      iex> A.add(1, 2)\n      3\n  \"\"\"\n  @spec add(integer, integer) :: integer\n  def add(a, b), do: a + b\nend\n",
			"defmodule A do\n  @doc \"\"\"\n  New.\n\n      iex> A.add(1, 2)\n      4\n  \"\"\"\n  @spec add(integer, integer) :: integer\n  def add(a, b), do: a + b + 1\nend\n",
			"defmodule A do\n  @doc \"\"\"\n  Old.\n\n      iex> A.add(1, 2)\n      3\n  \"\"\"\n  @spec add(integer, integer) :: integer\n  def add(a, b), do: a + b + 1\nend\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := ExamplesOf(c.file, true)
			got, err := m.Merge([]byte(c.base), []byte(c.head))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if ExamplesOf("a.py", false) != nil || ExamplesOf("a.go", true) != nil {
		t.Error("examples where none are run as tests")
	}
}
