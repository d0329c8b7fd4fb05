package gate

// A FileClass says what a file of a repository is for. The strings are stored: do
// not change them.
type FileClass string

// The classes of files, by path alone.
const (
	ClassTest     FileClass = "test"     // a test, in any language
	ClassData     FileClass = "data"     // lies in a folder of test data
	ClassSteering FileClass = "steering" // decides what a project is built with
	ClassSource   FileClass = "source"   // code
	ClassDoc      FileClass = "doc"      // people read it and nothing runs it
	ClassOther    FileClass = "other"
)

// Classify returns the class of the file with this path. It is the classification
// by which [Gate.Run] lays tests over the base.
func Classify(name string) FileClass {
	switch {
	case isTestSource(name):
		return ClassTest
	case inTestData(name):
		return ClassData
	case steers(name):
		return ClassSteering
	case isSource(name):
		return ClassSource
	case isDoc(name):
		return ClassDoc
	}
	return ClassOther
}
